"""Lessons of answering from a function's result that contains more than was asked."""

import json

from training.lessons.fillings import NUMBERS, as_number, fill, slots_of
from training.lessons.lesson import Lesson, assistant, user

ABSENT_SHARE = 0.1


class Results:
    def __init__(self, source, templates, calls):
        self.source, self.templates, self.calls = source, templates, calls

    def lesson(self):
        """The question is part of the request, or follows a first answer from the same result."""
        result = self.source.pick(self.templates["results"])
        ask, offer, arguments = self.calls.request(self.calls.by_intent[result["intent"]])
        values, data = self.draw(result)
        call = {"type": "function", "function": {"name": offer.name, "arguments": arguments}}
        reply = [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": json.dumps(data)},
        ]
        tools = self.calls.tools([offer], most=1)
        first, second = self.source.dice.sample(result["questions"], 2)
        question, answer = self.question(first, values)
        turns = [user(f"{ask} {question}"), *reply]
        if self.source.happens(0.5):
            return Lesson("field of a result", turns, answer, tools)
        turns.append(assistant(answer))
        question, answer = self.question(second, values)
        return Lesson("field of a result", [*turns, user(question)], answer, tools)

    def question(self, entry, values):
        if self.source.happens(ABSENT_SHARE):
            absent = self.templates["absent"]
            return self.source.wording(absent), absent["answer"]
        return self.source.wording(entry), fill(entry["answer"], values)

    def draw(self, result):
        """Returns (the fillings of the slots, the result with these fillings). Numbers are JSON numbers or text."""
        kinds = result.get("slots", {})
        slots = slots_of(json.dumps(result["data"]))
        values = {slot: self.calls.result_value(kinds.get(slot, slot)) for slot in slots}
        data = {key: self.typed(text, values, kinds) for key, text in result["data"].items()}
        keys = list(data)
        self.source.dice.shuffle(keys)
        return values, {key: data[key] for key in keys}

    def typed(self, text, values, kinds):
        if not isinstance(text, str):
            return text
        slot = text.strip("{}")  # only a slot alone becomes a number: "{amount} {token}" stays text
        is_number = kinds.get(slot, slot) in NUMBERS
        filled = fill(text, values)
        return as_number(filled) if is_number and self.source.happens(0.5) else filled
