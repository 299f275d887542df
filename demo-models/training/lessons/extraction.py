"""Lessons of copying: fields of a text into JSON, and plain repetition."""

import json

from training.lessons.fillings import NUMBERS, as_number, fill, slots_of
from training.lessons.lesson import Lesson, system, user

NUMBER_SCHEMA, TEXT_SCHEMA = {"type": "number"}, {"type": "string"}


class Extraction:
    def __init__(self, source, templates, fillings, words):
        self.source, self.templates, self.fillings = source, templates, fillings
        self.words = words  # to be copied in any order

    def lines(self, key):
        return self.templates[f"held_out_{key}" if self.source.held_out else key]

    def lesson(self, own=False):
        """`own`: the keys have a caller's names, and sometimes the text lacks a key."""
        source = self.source
        text = source.pick(self.lines("texts"))
        values = {slot: self.fillings.draw(slot) for slot in slots_of(text)}
        fields = self.choose_fields(list(values), own)
        names = self.templates["fields"]
        keys = {field: source.pick(names[field]) if own else names[field][0] for field in fields}
        answer = {keys[field]: self.value(field, values) for field in fields}
        plan = None
        if source.happens(0.1):
            plan = fill(self.templates["plan"], {"keys": join_keys(list(keys.values()))})
        messages = self.request(fill(text, values), keys)
        return Lesson(
            "extraction, own keys" if own else "extraction", messages, json.dumps(answer, ensure_ascii=False), plan=plan
        )

    def choose_fields(self, present, own):
        source = self.source
        fields = source.dice.sample(present, source.dice.randint(1, len(present)))
        absent = [field for field in self.templates["fields"] if field not in present]
        if own and absent and source.happens(0.25):
            fields.insert(source.dice.randrange(len(fields) + 1), source.pick(absent))
        return fields

    def value(self, field, values):
        if field not in values:
            return None
        return as_number(values[field]) if field in NUMBERS else values[field]

    def request(self, text, keys):
        names = list(keys.values())
        shown = names if self.source.happens(0.7) else [f'"{name}"' for name in names]
        parts = {"keys": join_keys(shown), "text": text, "schema": self.schema(keys)}
        if self.source.happens(0.5):
            return [user(fill(self.wording("asks"), parts))]
        return [system(fill(self.wording("systems"), parts)), user(text)]

    def wording(self, key):
        """Returns a written line, or one composed of parts, so that no single line is memorised."""
        if self.source.held_out or self.source.happens(0.4):
            return self.source.pick(self.lines(key))
        parts = {name: self.source.pick(lines) for name, lines in self.templates["made_parts"].items()}
        made = fill(self.source.pick(self.templates[f"made_{key}"]), parts)
        return made if made.startswith("{") else made[0].upper() + made[1:]

    def schema(self, keys):
        properties = {name: NUMBER_SCHEMA if field in NUMBERS else TEXT_SCHEMA for field, name in keys.items()}
        schema = {"type": "object", "properties": properties}
        if self.source.happens(0.5):
            schema["required"] = list(properties)
        return json.dumps(schema)

    def repeat(self):
        """Repeats a mixture of texts that can be copied."""
        text = self.source.pick([self.some_words, self.some_hexadecimal, self.some_fillings])()
        ask = self.source.pick(self.templates["repeat_held_out" if self.source.held_out else "repeat"])
        return Lesson("repeat", [user(fill(ask, {"text": text}))], text)

    def some_words(self):
        return " ".join(self.source.dice.choices(self.words, k=self.source.dice.randint(2, 30)))

    def some_hexadecimal(self):
        return self.fillings.hexadecimal(self.source.dice.randint(2, 40))

    def some_fillings(self):
        kinds = ["address", "hash", "amount", "name", "project", "block", "token", "chain"]
        parts = [self.fillings.draw(self.source.pick(kinds)) for _ in range(self.source.dice.randint(1, 4))]
        return self.source.pick([" ", ", ", " and "]).join(parts)


def join_keys(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
