import json
import unittest
from pathlib import Path

from training.hashes import describe

ROOT = Path(__file__).resolve().parents[2]


class FilesTest(unittest.TestCase):
    def test_hashes_are_those_of_the_files(self):
        recorded = json.loads((ROOT / "hashes.json").read_text(encoding="utf-8"))
        for name, entry in recorded.items():
            if name.endswith(".safetensors") and not (ROOT / name).exists():
                continue  # made from the GGUF file at first use; `tests_with_torch` and the server's tests check its hash
            self.assertEqual(describe(ROOT / name), entry, name)

    def test_all_files_together_stay_small(self):
        size = sum(path.stat().st_size for path in ROOT.rglob("*") if path.is_file() and ".parley" not in path.parts)
        self.assertLessEqual(size, 60_000_000)


if __name__ == "__main__":
    unittest.main()
