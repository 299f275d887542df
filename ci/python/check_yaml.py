"""Reads every YAML file of the contract with PyYAML, which supports only YAML 1.1, and compares it with its JSON file, if there
is one.

In YAML 1.1 `on` and `no` are booleans and 2027-12-31 is a date. Most readers in Python and Ruby use this version.
`python ci/python/check_yaml.py`
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def differences(read: object, wanted: object, place: str = "") -> Iterator[str]:
    """Yields the places where two values differ, and how. Unlike in Python, `true` is not 1 here, and 1.0 is not 1."""
    if isinstance(read, dict) and isinstance(wanted, dict):
        for name in [*wanted, *(name for name in read if name not in wanted)]:
            yield from differences(read.get(name, "(missing)"), wanted.get(name, "(missing)"), f"{place}/{name}")
    elif isinstance(read, list) and isinstance(wanted, list) and len(read) == len(wanted):
        for index, (left, right) in enumerate(zip(read, wanted, strict=True)):
            yield from differences(left, right, f"{place}/{index}")
    elif type(read) is not type(wanted) or read != wanted:
        yield f"{place}: {read!r} instead of {wanted!r}"


def check(file: Path) -> list[str]:
    read = yaml.safe_load(file.read_text(encoding="utf-8"))
    twin = file.with_suffix(".json")
    if not twin.exists():
        return []  # The workflows exist only in YAML, so it is enough that PyYAML reads them.
    wanted = json.loads(twin.read_text(encoding="utf-8"))
    return [f"{file.name}{found}" for found in differences(read, wanted)]


def main() -> int:
    would_be_found = list(differences(yaml.safe_load("{on: no, day: 2027-12-31}"), {"on": "no", "day": "2027-12-31"}))
    if len(would_be_found) != 3:
        print(f"the comparison is blind: {would_be_found}")
        return 1
    printed = subprocess.run(["node", "site/src/main.ts"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = sorted(Path(printed.strip()).glob("*.yaml"))
    found = [difference for file in files for difference in check(file)]
    print("\n".join(found) or f"{len(files)} files are read by PyYAML as they are meant")
    return 1 if found or not files else 0


sys.exit(main())
