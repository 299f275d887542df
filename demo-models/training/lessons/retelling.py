"""Telling what a function returned, whatever it is: numbers of any length are copied as they came."""

import json

from training.lessons.fillings import fill, slots_of
from training.lessons.lesson import Lesson, assistant, user

LATER_SHARE = 0.2


class Retelling:
    def __init__(self, source, templates, fillings, failed, errors):
        self.source, self.templates, self.fillings = source, templates, fillings
        self.failed, self.errors = failed, errors

    def lesson(self):
        name = self.source.pick(self.templates["functions"])
        ask = self.source.pick(self.templates["asks"])
        values = {slot: self.fillings.draw(slot) for slot in slots_of(ask)}
        members = self.members()
        content = "{" + ", ".join(f"{json.dumps(key)}: {written}" for key, written in members.items()) + "}"
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
        """Key → the value as JSON writes it."""
        if self.source.happens(0.12):
            return {"error": json.dumps(self.source.pick(self.errors))}
        keys = self.source.dice.sample(self.templates["keys"], self.source.dice.choice([1, 1, 2, 2, 3, 4]))
        return {key: self.written() for key in keys}

    def written(self):
        dice = self.source.dice
        kind = dice.choice(["whole", "whole", "whole", "decimal", "decimal", "text", "word", "flag"])
        if kind == "whole":
            return str(dice.randint(0, 10 ** dice.randint(1, 9)))
        if kind == "decimal":
            decimals = "".join(dice.choices("0123456789", k=dice.randint(0, 5)))
            return f"{dice.randint(0, 10 ** dice.randint(0, 5))}.{decimals}{dice.randint(1, 9)}"
        if kind == "flag":
            return dice.choice(["true", "false"])
        words = self.templates["words"]
        return json.dumps(
            self.source.pick(words) if kind == "word" else self.fillings.draw(dice.choice(["address", "name", "token"]))
        )

    def told(self, members):
        if "error" in members:
            return fill(self.failed, {"error": json.loads(members["error"])})
        parts = (f"{key.replace('_', ' ')} {written.strip(chr(34))}" for key, written in members.items())
        return fill(self.templates["answer"], {"told": ", ".join(parts)})
