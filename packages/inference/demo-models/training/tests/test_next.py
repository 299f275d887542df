import copy
import unittest

import yaml

from training.corpus import NEXT, read_next
from training.lessons.fillings import slots_of
from training.lessons.rounds import Corpus, Teachers


def read_template(name):
    return yaml.safe_load((NEXT / "templates" / f"{name}.yaml").read_text(encoding="utf-8"))


class NextTest(unittest.TestCase):
    """What the next training takes up: it fits beside what is taught, and nothing of it is taught yet."""

    def test_its_questions_are_short_and_not_taught_yet(self):
        taught = {question.key for question in Corpus().questions}
        for question in read_next():
            self.assertLessEqual(len(question.sentences), 3, question.key)
            self.assertLessEqual(len(question.answer), 240, question.key)
            self.assertNotIn(question.key, taught)

    def test_its_functions_can_be_drawn_with_the_taught_ones(self):
        corpus = Corpus()
        added = read_template("functions")["functions"]
        corpus.functions = copy.deepcopy(corpus.functions)
        corpus.functions["functions"] += added
        intents = [entry["intent"] for entry in corpus.functions["functions"]]
        self.assertEqual(len(set(intents)), len(intents))
        self.assertEqual(set(read_template("which-tool")["intents"]), set(intents))
        for held_out in (False, True):
            teachers = Teachers(corpus, 3, held_out)
            teachers.fillings.lists["choice"] = read_template("fillings")["choices"]
            for _ in range(400):
                for draw in (teachers.calls.one, teachers.calls.answered, teachers.calls.missing):
                    draw()

    def test_every_slot_of_a_snippet_can_be_filled(self):
        template = read_template("snippets")
        self.assertGreaterEqual(len(template["flaws"]), 12)
        seen = set()
        sound = {"name": "none", **template["sound"]}
        for flaw in [*template["flaws"], sound]:
            held_out = sound["held_out"] if flaw is sound else [flaw["held_out"]]
            self.assertGreaterEqual(len(flaw["shapes"]), 3, flaw["name"])
            for shape in [*flaw["shapes"], *held_out]:
                self.assertNotIn(shape, seen, flaw["name"])
                seen.add(shape)
                self.assertLessEqual(set(slots_of(shape)), {*template["fillings"], *flaw.get("fillings", {})})


if __name__ == "__main__":
    unittest.main()
