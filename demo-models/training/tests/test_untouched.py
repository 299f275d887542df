import unittest

from training.corpus import normalise
from training.lessons.rounds import Corpus
from training.untouched import CALLS, REFUSALS, Untouched


class UntouchedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.untouched = Untouched(Corpus(), 1)
        cls.lessons = list(cls.untouched.lessons())

    def test_nothing_of_it_stands_in_the_corpus(self):
        asks = [normalise(lesson.messages[-1]["content"]) for lesson in self.lessons]
        self.assertEqual([ask for ask in asks if ask in self.untouched.known], [])

    def test_every_kind_is_there(self):
        kinds = {lesson.kind for lesson in self.lessons}
        self.assertEqual(kinds, {"recall", "call", *REFUSALS})
        self.assertEqual(sum(lesson.kind == "call" for lesson in self.lessons), CALLS)
        self.assertGreater(sum(lesson.kind == "recall" for lesson in self.lessons), 180)

    def test_calls_are_asked_in_its_own_words(self):
        written = self.untouched.written["calls"]
        for entry in self.untouched.calls.entries:
            self.assertLessEqual(set(entry["held_out"]), set(written[entry["intent"]]), entry["intent"])


if __name__ == "__main__":
    unittest.main()
