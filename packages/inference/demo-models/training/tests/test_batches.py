import unittest

from training.batches import make_steps
from training.lessons.lesson import Lesson, user
from training.presets import Schedule


class Tokens:
    """One token for every character."""

    def encode(self, text, add_special_tokens):
        return type("Encoded", (), {"ids": [1] * len(text)})

    def token_to_id(self, _):
        return 0


class BatchesTest(unittest.TestCase):
    def test_a_lesson_that_is_too_long_is_told_before_the_training(self):
        def make_round(_):
            return [Lesson("repeat", [user("a" * 3000)], "a")]

        with self.assertRaisesRegex(ValueError, "round 0 has a lesson of .* tokens, and the network reads 2048 at once"):
            make_steps(make_round, Tokens(), Schedule(tokens=1), 1)


if __name__ == "__main__":
    unittest.main()
