"""Runs the tests of the training. Without torch, it names the tests that it skips. `python ci/python/test_training.py`"""

import importlib.util
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "demo-models"


def main() -> int:
    folders = ["tests"]
    if importlib.util.find_spec("torch"):
        folders.append("tests_with_torch")
    else:
        print("SKIPPED training/tests_with_torch: they need torch, see demo-models/requirements.txt", flush=True)
    loader = unittest.TestLoader()
    found = [loader.discover(str(ROOT / "training" / name), top_level_dir=str(ROOT)) for name in folders]
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(found))
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


sys.exit(main())
