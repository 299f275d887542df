import json
import unittest
from functools import partial
from pathlib import Path

from training.batches import encode
from training.chat import END_OF_TURN
from training.lessons.fillings import slots_of
from training.lessons.forms import shape_answer
from training.lessons.rounds import Corpus, Teachers
from training.tokenizer import load_tokenizer

ROOT = Path(__file__).resolve().parents[2]


class LessonsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.corpus = Corpus()
        cls.tokenizer = load_tokenizer(ROOT / "model-1" / "tokenizer.json")

    def teachers(self, held_out):
        return Teachers(self.corpus, 3, held_out)

    def test_every_slot_of_every_kind_is_filled(self):
        for held_out in (False, True):
            teachers = self.teachers(held_out)
            calls = teachers.calls
            draws = [calls.missing, calls.answered, teachers.no_calls.not_listed]
            for kind in (calls, teachers.own_calls):
                draws += [kind.one, kind.two, kind.direct, partial(kind.session, 3)]
            draws += [teachers.results.lesson, teachers.tool_choice.lesson, teachers.extraction.lesson]
            for draw in draws:
                for _ in range(300):
                    lesson = draw()
                    for text in (lesson.answer, *(m["content"] or "" for m in lesson.messages)):
                        self.assertEqual(slots_of(text), [], lesson.kind)

    def test_what_is_declined_hardly_repeats(self):
        manners = self.teachers(False).manners
        for kind in manners.declined:
            asked = [manners.refusal(kind).messages[-1]["content"] for _ in range(200)]
            self.assertEqual([slots_of(ask) for ask in asked], [[]] * 200)
            self.assertGreater(len(set(asked)), 150, kind)

    def test_a_function_of_the_catalogue_is_always_the_same(self):
        known = {}
        calls = self.teachers(False).calls
        for _ in range(500):
            for tool in calls.one().tools or []:
                name = tool["function"]["name"]
                self.assertEqual(known.setdefault(name, tool), tool)
        self.assertEqual(len(known), len(calls.entries))

    def test_a_call_takes_what_was_said_and_only_offered_parameters(self):
        teachers = self.teachers(False)
        for draw in (teachers.calls.one, teachers.own_calls.one) * 300:
            lesson = draw()
            call = json.loads(lesson.answer.split("\n")[1])
            offered = next(t["function"] for t in lesson.tools or [] if t["function"]["name"] == call["name"])
            properties = offered["parameters"]["properties"]
            self.assertLessEqual(set(offered["parameters"].get("required", [])), set(call["arguments"]))
            for name, value in call["arguments"].items():
                said, listed = lesson.messages[-1]["content"], properties[name].get("enum")
                self.assertIn(str(value).lower() if listed else str(value), said.lower() if listed else said)
                self.assertIn(value, listed or [value])

    def test_a_written_request_has_a_call_that_its_function_takes(self):
        functions = self.teachers(False).written_functions
        for _ in range(600):
            lesson = functions.call()
            call = json.loads(lesson.answer.split("\n")[1])
            offered = [tool["function"] for tool in lesson.tools or []]
            self.assertEqual(len({function["name"] for function in offered}), len(offered))
            schema = next(function["parameters"] for function in offered if function["name"] == call["name"])
            self.assertLessEqual(set(schema.get("required", [])), set(call["arguments"]), lesson.messages)
            for name, value in call["arguments"].items():
                self.assertIn(value, schema["properties"][name].get("enum", [value]))

    def test_no_call_is_taught_where_a_written_function_does_not_fit(self):
        functions = self.teachers(False).written_functions
        for _ in range(300):
            for lesson in (functions.no_call(), functions.elsewhere()):
                self.assertEqual("<tool_call>" in lesson.answer, lesson.kind == "call, written")

    def test_some_written_functions_and_schemas_are_for_the_examination_alone(self):
        taught, kept = self.teachers(False), self.teachers(True)
        for name, least in (("written_functions", 20), ("written_schemas", 10)):
            first, second = getattr(taught, name).entries, getattr(kept, name).entries
            self.assertEqual([entry for entry in second if entry in first], [], name)
            self.assertGreater(len(second), least, name)

    def test_every_slot_of_a_written_sentence_is_a_parameter(self):
        for entry in self.corpus.written_functions:
            parameters = entry.get("parameters") or {}
            for ask in entry["asks"]:
                said, given = (ask["say"], ask["with"]) if isinstance(ask, dict) else (ask, {})
                needed = {name for name, parameter in parameters.items() if not parameter.get("optional")}
                self.assertLessEqual(set(slots_of(said)) | set(given), set(parameters), said)
                self.assertLessEqual(needed, set(slots_of(said)) | set(given), said)
            for kind in ("stopped", "asked", "unfit"):
                for said in entry[kind]:
                    self.assertLessEqual(set(slots_of(said)), set(parameters), said)

    def test_the_flaws_are_many_and_each_shape_stands_once(self):
        template = self.corpus.snippets
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

    def test_the_intents_are_those_of_the_functions(self):
        intents = [entry["intent"] for entry in self.corpus.functions["functions"]]
        self.assertEqual(len(set(intents)), len(intents))
        self.assertEqual(set(self.corpus.tool_choice["intents"]), set(intents))
        self.assertLessEqual({result["intent"] for result in self.corpus.results["results"]}, set(intents))

    def test_forms_shape_an_answer(self):
        question = next(q for q in self.corpus.questions if len(q.sentences) == 2)
        first, second = question.sentences
        shaped = {
            name: shape_answer(question, form["shape"], "Done") for name, form in self.corpus.forms["forms"].items()
        }
        self.assertEqual(shaped["one_sentence"], first)
        self.assertEqual(shaped["numbered"], f"1. {first}\n2. {second}")
        self.assertEqual(json.loads(shaped["short_detail"]), {"short": first, "detail": second})
        self.assertEqual(json.loads(shaped["json_list"]), [first, second])
        self.assertEqual(shaped["ending"], f"{question.answer} Done.")

    def test_earlier_turns_are_taught_like_an_answer(self):
        lesson = self.teachers(False).calls.session(3)
        ids, taught = encode(lesson, self.tokenizer)
        said = self.tokenizer.decode([int(i) for i, t in zip(ids, taught, strict=True) if t], skip_special_tokens=False)
        parts = said.split(END_OF_TURN)
        self.assertEqual(len(parts), 6)  # two calls, two answers, the last call, and nothing after it
        self.assertTrue(parts[0].startswith('<tool_call>\n{"name": '), parts[0])
        self.assertEqual(
            parts[4], lesson.answer if lesson.plan is None else f"<think>\n{lesson.plan}\n</think>\n\n{lesson.answer}"
        )


if __name__ == "__main__":
    unittest.main()
