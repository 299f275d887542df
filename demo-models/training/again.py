"""Compares the evaluation of another training with the committed one: `python -m training.build again --target FOLDER`."""

import re

from training.presets import is_shipped

WITHIN = 3.0  # points
ENOUGH = 500  # tasks; with fewer tasks, chance alone moves a share further
CELL = re.compile(r"([\d.]+) % \((\d+)/(\d+)\)")


def read_shares(page):
    """Reads an `evaluation.md` as {(row, model): (percent, tasks)}."""
    shares, models = {}, []
    for line in page.splitlines():
        what, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if what == "what":
            models = cells[1:]
            continue
        for model, cell in zip(models, cells[1:], strict=False):
            if found := CELL.fullmatch(cell):
                shares[what, model] = (float(found[1]), int(found[3]))
    return shares


def compare(committed, again):
    """Returns (a line for every difference, the lines of those that are too large). A model that is not shipped is shown but not judged,
    because it moved by five points with the number of threads. Raises ValueError if nothing can be compared."""
    before, after = read_shares(committed), read_shares(again)
    lines, far = [], []
    for (what, model), (percent, tasks) in before.items():
        if tasks < ENOUGH or (what, model) not in after:
            continue
        now = after[what, model][0]
        lines.append(f"{model}, {what.strip('*')}: {percent} %, again {now} % ({now - percent:+.1f})")
        if abs(now - percent) > WITHIN and is_shipped(model):
            far.append(lines[-1])
    if not lines:
        raise ValueError(
            "the two evaluations have no row in common that is large enough; run the stage evaluate of the same preset first"
        )
    return lines, far
