"""Checks the sizes of Python code: a file has at most 300 lines, a function 50. `python ci/python/check_sizes.py`"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "demo-models/training",
    "fuzz/parley_fuzz",
    "ci/python",
    "docs/readers/python",
    "docs/examples",
    "packages/json-schema-grammar/bench",
    "packages/conformance/mutants/sdk-proofs/python",
)
LONGEST_FILE, LONGEST_FUNCTION = 300, 50


def count(lines: list[str]) -> int:
    """Counts lines as the linter of TypeScript does: without blank lines and comments."""
    return sum(not line.strip().startswith("#") for line in lines if line.strip())


def too_long(path: Path) -> Iterator[str]:
    """Reports the file and each of its functions that have too many lines."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > LONGEST_FILE:
        yield f"{path}: {len(lines)} lines, {LONGEST_FILE} are allowed"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = count(lines[node.lineno - 1 : node.end_lineno])
            if length > LONGEST_FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, {LONGEST_FUNCTION} are allowed"


def main() -> int:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = [line for path in paths for line in too_long(path)]
    print(*found, f"{len(paths)} files of Python, {len(found)} places too long", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
