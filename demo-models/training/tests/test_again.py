import unittest
from pathlib import Path

from training.again import compare, read_shares

PAGE = (Path(__file__).resolve().parents[2] / "evaluation.md").read_text(encoding="utf-8")


class AgainTest(unittest.TestCase):
    def test_every_share_of_the_page_is_read(self):
        shares = read_shares(PAGE)
        self.assertEqual(shares["taught questions, held-out wording", "model-1"][1], 919)
        self.assertIn(("**all tasks**", "model-1-mini"), shares)
        self.assertIn(("fields of JSON", "model-1"), shares)

    def test_an_evaluation_agrees_with_itself(self):
        lines, far = compare(PAGE, PAGE)
        self.assertGreaterEqual(len(lines), 6)
        self.assertEqual(far, [])

    def test_more_than_three_points_are_told(self):
        page = "| what | aim | model-1 |\n|---|---|---|\n| recall | 90 % | {} |\n| few | | 10.0 % (1/10) |"
        same = page.format("90.0 % (900/1000)")
        for now, count in (("87.0 % (870/1000)", 0), ("86.9 % (869/1000)", 1), ("93.1 % (931/1000)", 1)):
            self.assertEqual(len(compare(same, page.format(now))[1]), count, now)

    def test_a_model_that_is_not_shipped_is_shown_and_not_judged(self):
        page = "| what | aim | model-1 | model-1-mini-alone |\n|---|---|---|---|\n| recall | | {} | {} |"
        right, less = "90.0 % (900/1000)", "80.0 % (800/1000)"
        lines, far = compare(page.format(right, right), page.format(less, less))
        self.assertEqual([line.split(",")[0] for line in lines], ["model-1", "model-1-mini-alone"])
        self.assertEqual(far, lines[:1])

    def test_nothing_in_common_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no row in common"):
            compare(PAGE, "| what | aim | model-2 |\n|---|---|---|\n")


if __name__ == "__main__":
    unittest.main()
