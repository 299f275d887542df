"""Draws the losses of the trainings as an SVG: one line per model, over the share of its run."""

import math

CURVES_FILE = "training-curves.svg"
WIDTH, HEIGHT, MARGIN = 720, 360, 48
COLOURS = ["#1f5fbf", "#c2571a", "#5b8a3c"]
LEAST, MOST = 0.01, 10.0  # of the loss, on a logarithmic axis


def draw_curves(curves):
    """Returns the SVG's text. `curves`: name → [(step, mean loss of the last steps)]."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *grid(),
    ]
    for at, (name, curve) in enumerate(curves.items()):
        colour, last = COLOURS[at % len(COLOURS)], curve[-1][0]
        points = " ".join(f"{across(step / last):.1f},{down(loss):.1f}" for step, loss in curve)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
        parts.append(f'<text x="{WIDTH - 220}" y="{MARGIN + 16 * at}" fill="{colour}">{name}: {curve[-1][1]}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def grid():
    for loss in (0.01, 0.1, 1.0, 10.0):
        y = f"{down(loss):.1f}"
        yield f'<line x1="{MARGIN}" y1="{y}" x2="{WIDTH - MARGIN}" y2="{y}" stroke="#ddd"/>'
        yield f'<text x="8" y="{y}" fill="#555">{loss:g}</text>'
    yield f'<text x="{MARGIN}" y="{HEIGHT - 12}" fill="#555">share of the training, 0 to 100 %; loss per taught token</text>'


def across(share):
    return MARGIN + share * (WIDTH - 2 * MARGIN)


def down(loss):
    height = (math.log(MOST) - math.log(min(max(loss, LEAST), MOST))) / (math.log(MOST) - math.log(LEAST))
    return MARGIN + height * (HEIGHT - 2 * MARGIN)
