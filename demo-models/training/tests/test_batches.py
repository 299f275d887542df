import unittest
from dataclasses import replace

from training.batches import OPENING_TOKENS, encode, make_steps
from training.lessons.lesson import Lesson, user
from training.presets import Schedule


class Tokens:
    """One token for every character."""

    def encode(self, text, add_special_tokens):
        return type("Encoded", (), {"ids": [ord(character) for character in text]})

    def token_to_id(self, _):
        return -1


class BatchesTest(unittest.TestCase):
    def test_a_lesson_that_is_too_long_is_told_before_the_training(self):
        def make_round(_):
            return [Lesson("repeat", [user("a" * 3000)], "a")]

        with self.assertRaisesRegex(
            ValueError, "round 0 has a lesson of .* tokens, and the network reads 2048 at once"
        ):
            make_steps(make_round, Tokens(), Schedule(tokens=1), 1)

    def test_an_opening_teaches_the_first_tokens_and_no_end(self):
        lesson = Lesson("recall", [user("a")], "b" * 100)
        read = len(encode(lesson, Tokens())[0]) - len("b" * 100 + "<|im_end|>")
        ids, taught = encode(replace(lesson, opening=True), Tokens())
        self.assertEqual(len(ids), read + OPENING_TOKENS)
        self.assertEqual(list(taught), [False] * read + [True] * OPENING_TOKENS)

    def test_every_lesson_of_a_round_is_in_one_batch_of_one_step(self):
        lengths = range(100, 160)

        def make_round(_):
            return [Lesson("repeat", [user("a" * length)], "a") for length in lengths]

        wanted = sorted(len(encode(lesson, Tokens())[0]) for lesson in make_round(0))
        schedule = Schedule(tokens=sum(wanted), batch_tokens=1024, batches=2)
        steps = make_steps(make_round, Tokens(), schedule, 1)
        self.assertEqual({len(step) for step in steps[:-1]}, {schedule.batches})
        groups = [group for step in steps for group in step]
        self.assertEqual(sorted(len(ids) for group in groups for ids, _ in group), wanted)
        for group in groups:
            self.assertLessEqual(len(group) * max(len(ids) for ids, _ in group), schedule.batch_tokens)


if __name__ == "__main__":
    unittest.main()
