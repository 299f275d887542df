"""Lessons of retelling any function result: numbers of any length are copied unchanged."""

import json
import re

from training.lessons.fillings import fill, slots_of
from training.lessons.lesson import Lesson, assistant, user

LATER_SHARE = 0.2
DIGIT = re.compile(r"[0-9]")


def flat(data):
    """Flattens a result to key → retold value: nested members move to the top, and a list becomes its members one after the other."""
    told = {}
    for key, value in data.items():
        if isinstance(value, dict):
            told |= flat(value)
        elif isinstance(value, list):
            parts = [
                part for item in value for part in (flat(item).values() if isinstance(item, dict) else [as_told(item)])
            ]
            told[key] = ", ".join(parts)
        else:
            told[key] = as_told(value)
    return told


def as_told(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Retelling:
    def __init__(self, source, templates, calls, failed, errors):
        fillings, self.calls = calls.fillings, calls
        self.source, self.templates, self.fillings = source, templates, fillings
        self.failed, self.errors = failed, errors

    def lesson(self):
        return self.of_request() if self.source.happens(0.6) else self.of_anything()

    def of_request(self):
        """A call of a caller's own function, with a result of any shape."""
        ask, offer, arguments = self.calls.request(self.source.pick(self.calls.entries))
        call = {"type": "function", "function": {"name": offer.name, "arguments": arguments}}
        content, told = self.result()
        turns = [
            user(ask),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": content},
        ]
        return Lesson("retelling", turns, told, self.calls.tools([offer], most=1))

    def result(self):
        """Returns (a function's result, its retelling): an object, a nested object, a list, or a bare value."""
        kind = self.source.pick(["flat"] * 6 + ["nested", "list", "bare"])
        if kind == "bare":
            written = self.written()
            return written, fill(self.templates["answer"], {"told": written.strip(chr(34))})
        if kind == "list":
            parts = [self.written() for _ in range(self.source.dice.randint(1, 4))]
            told = ", ".join(part.strip(chr(34)) for part in parts)
            return "[" + ", ".join(parts) + "]", fill(self.templates["answer"], {"told": told})
        members = self.members()
        inner = self.object_of(members)
        content = inner if kind == "flat" else "{" + f"{json.dumps(self.key())}: {inner}" + "}"
        return content, self.told(members)

    def of_data(self, data):
        """Returns the same for an object of the corpus, with new digits each time."""
        written = {key: self.redrawn(value) for key, value in data.items()}
        return self.object_of(
            {key: json.dumps(value, ensure_ascii=False) for key, value in written.items()}
        ), self.told(flat(written))

    def redrawn(self, value):
        if isinstance(value, dict):
            return {key: self.redrawn(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.redrawn(inner) for inner in value]
        if isinstance(value, str):
            return self.other_digits(value) if self.source.happens(0.6) else value
        if isinstance(value, bool) or value is None or self.source.happens(0.3):
            return value
        return json.loads(self.other_digits(json.dumps(value)))

    def other_digits(self, text):
        return DIGIT.sub(lambda _: self.source.pick("123456789"), text)

    def key(self):
        drawn = [self.fillings.invented(1, 2), self.fillings.draw("token"), self.fillings.draw("chain").lower()]
        common = self.source.pick(
            [*self.templates["keys"], *self.templates["common_keys"], *self.templates["common_keys"]]
        )
        return self.source.pick([common, common, common, *drawn])

    def object_of(self, members):
        """Writes JSON with or without blanks, as different servers do."""
        colon, comma = self.source.pick([(": ", ", "), (":", ",")])
        return "{" + comma.join(f"{json.dumps(key)}{colon}{written}" for key, written in members.items()) + "}"

    def of_anything(self):
        name = self.source.pick(self.templates["functions"])
        ask = self.source.pick(self.templates["asks"])
        values = {slot: self.fillings.draw(slot) for slot in slots_of(ask)}
        members = self.members()
        content = self.object_of(members)
        call = {"type": "function", "function": {"name": name, "arguments": {"of": next(iter(values.values()))}}}
        turns = [
            user(fill(ask, values)),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": content},
        ]
        if self.source.happens(LATER_SHARE) and "error" not in members:
            key = self.source.pick(list(members))
            again = fill(self.source.pick(self.templates["later"]), {"key": key.replace("_", " ")})
            return self.made([*turns, assistant(self.told(members)), user(again)], self.told({key: members[key]}), name)
        return self.made(turns, self.told(members), name)

    def made(self, turns, answer, name):
        schema = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
        tool = {"type": "function", "function": {"name": name, "parameters": schema}}
        return Lesson("retelling", turns, answer, [tool])

    def members(self):
        """Returns key → JSON value."""
        if self.source.happens(0.12):
            return {"error": json.dumps(self.source.pick(self.errors))}
        return {self.key(): self.written() for _ in range(self.source.dice.choice([1, 1, 2, 2, 3, 4]))}

    def written(self):
        dice = self.source.dice
        kind = dice.choice(
            ["whole", "whole", "whole", "decimal", "decimal", "text", "word", "flag", "date", "hash", "digits", "whole"]
        )
        if kind == "whole":
            return str(dice.randint(0, 10 ** dice.randint(1, 9)))
        if kind == "decimal":
            decimals = "".join(dice.choices("0123456789", k=dice.randint(0, 5)))
            return f"{dice.randint(0, 10 ** dice.randint(0, 5))}.{decimals}{dice.randint(1, 9)}"
        if kind == "date":
            return f'"20{dice.randint(10, 39)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"'
        if kind == "hash":
            return json.dumps(self.fillings.hexadecimal(dice.choice([4, 8, 40, 64])))
        if kind == "digits":
            return f'"{dice.randint(0, 10 ** dice.randint(1, 9))}"'
        if kind == "flag":
            return dice.choice(["true", "false"])
        words = self.templates["words"]
        return json.dumps(
            self.source.pick(words) if kind == "word" else self.fillings.draw(dice.choice(["address", "name", "token"]))
        )

    def told(self, members):
        if "error" in members:
            return fill(self.failed, {"error": members["error"].strip(chr(34))})
        parts = (f"{key.replace('_', ' ')} {written.strip(chr(34))}" for key, written in members.items())
        return fill(self.templates["answer"], {"told": ", ".join(parts)})
