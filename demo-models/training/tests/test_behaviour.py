import json
import unittest
from pathlib import Path

import yaml

from training.corpus import normalise
from training.lessons.rounds import Corpus, Teachers, teach_round
from training.presets import CPU

# A lesson repeats letters of a greeting at random, and produced one line of the examination. The figures in the README include it.
TAUGHT_BY_CHANCE = ["helloooo"]

FOLDER = Path(__file__).resolve().parents[2] / "behaviour"


def read(name):
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def last_words():
    """Returns the last user messages and the system messages of the behaviour examination."""
    for kind, lines in read("first-messages-en").items():
        yield from (lines if kind not in ("noise", "calldata") else [])
    for kinds in read("first-messages-world").values():
        yield from (line for lines in kinds.values() for line in lines)
    talks = read("conversations")
    yield from (talk["turns"][-1] for talk in talks["follow-up"])
    yield from (talk["system"] for talk in talks["system"])
    yield from (say for entry in read("structured") for say in entry["says"])
    tools = read("tools")
    yield from (call["say"] for call in tools["calls"])
    yield from (say for entry in tools["none"] for say in entry["says"])
    yield from (result["ask"] for result in tools["results"])


class BehaviourTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.corpus = Corpus()

    def test_nothing_of_the_examination_is_taught(self):
        taught = {normalise(ask) for question in self.corpus.questions for ask in (*question.asks, question.held_out)}
        said = self.corpus.conversation
        taught.update(normalise(ask) for entry in (*said["small_talk"], *said["refusals"]) for ask in entry["ask"])
        for number in range(3):
            for lesson in teach_round(self.corpus, CPU.seed, number):
                taught.update(normalise(message["content"] or "") for message in lesson.messages)
        self.assertEqual([line for line in last_words() if normalise(line) in taught], TAUGHT_BY_CHANCE)

    def test_an_answer_by_a_schema_is_valid(self):
        try:
            from jsonschema import Draft202012Validator
        except ImportError:
            self.skipTest("jsonschema is not installed")
        teachers = Teachers(self.corpus, 7)
        kinds = (teachers.schemas, teachers.mixed_schemas, teachers.written_schemas)
        for teach in [kind.lesson for kind in kinds] * 500:
            lesson = teach()
            shown = json.loads(lesson.messages[0]["content"].split("schema: ", 1)[1])
            Draft202012Validator(shown).validate(json.loads(lesson.answer))

    def test_a_retold_number_stands_in_the_result(self):
        retelling = Teachers(self.corpus, 7).retelling
        for _ in range(500):
            lesson = retelling.lesson()
            result = next(message["content"] for message in lesson.messages if message["role"] == "tool")
            for word in lesson.answer.replace(",", "").rstrip(".").split():
                if word[0].isdigit():
                    self.assertIn(word, result)

    def test_where_no_call_is_right_none_is_taught(self):
        no_calls = Teachers(self.corpus, 7).no_calls
        for _ in range(500):
            self.assertNotIn("<tool_call>", no_calls.lesson().answer)

    def test_noise_has_a_short_answer(self):
        noise = Teachers(self.corpus, 7).noise
        for _ in range(500):
            lesson = noise.lesson()
            self.assertLess(len(lesson.answer), 80)
            self.assertTrue(lesson.messages[-1]["content"])


if __name__ == "__main__":
    unittest.main()
