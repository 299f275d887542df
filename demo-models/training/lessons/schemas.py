"""Lessons of answers to a schema in the prompt: facts of a text go into the members, and every string ends."""

import json
import re

from training.chat import show_schema
from training.lessons.fillings import NUMBERS, as_number, fill, slots_of
from training.lessons.lesson import Lesson, system, user

ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
ANY_OBJECT = {"type": "object"}


class Schemas:
    """Every kind below returns (the user's message, a schema, the value of the answer)."""

    def __init__(self, source, templates, extraction, recall):
        self.source, self.templates = source, templates
        self.extraction, self.recall, self.fillings = extraction, recall, extraction.fillings

    def lesson(self):
        kinds = [self.copied, self.copied, self.written, self.written, self.chosen, self.counted, self.listed]
        return self.shown(*self.source.pick([*kinds, self.flagged, self.formatted, self.any_object, self.several])())

    def shown(self, said, schema, value):
        if schema != ANY_OBJECT and self.source.happens(0.25):
            schema, value = self.wrapped(schema, value)
        if schema != ANY_OBJECT and self.source.happens(0.15):
            schema = {"title": self.source.pick(self.templates["titles"]), **schema}
        line = show_schema(schema)
        before = [message["content"] for message in self.recall.neutral(0.25)]
        messages = [system("\n\n".join([*before, line])), user(said)]
        return Lesson("schema", messages, json.dumps(value, ensure_ascii=False))

    def key(self, kind):
        return self.source.pick(self.templates["keys"][kind])

    def say(self, kind, value=""):
        line = self.source.pick(self.templates["said"][kind])
        return fill(
            line, {slot: self.fillings.draw(slot) for slot in slots_of(line) if slot != "value"} | {"value": value}
        )

    def object_of(self, members):
        """Makes an object schema: all members are required, and often no others are allowed."""
        schema = {"type": "object", "properties": members, "required": list(members)}
        if self.source.happens(0.4):
            schema["additionalProperties"] = False
        return schema

    def copied(self):
        """Fields of a text, with bounds and patterns that the text satisfies. Fields that it does not name are null."""
        text = self.source.pick(self.extraction.lines("texts"))
        values = {slot: self.fillings.draw(slot) for slot in slots_of(text)}
        fields = self.extraction.choose_fields(list(values), own=True)
        names = self.extraction.templates["fields"]
        keys = {field: self.source.pick(names[field]) for field in fields}
        members = {keys[field]: self.field(field, values.get(field)) for field in fields}
        answer = {keys[field]: self.extraction.value(field, values) for field in fields}
        return fill(text, values), self.object_of(members), answer

    def field(self, field, value):
        if field in NUMBERS:
            schema: dict = {"type": "integer" if value and "." not in value and self.source.happens(0.5) else "number"}
            if value and self.source.happens(0.5):
                schema["minimum"] = 0
        else:
            schema = {"type": "string", **self.bounds(value)}
        return {**schema, "type": [schema["type"], "null"]} if value is None else schema

    def bounds(self, value):
        if value is None or self.source.happens(0.4):
            return {}
        if ADDRESS.fullmatch(value) and self.source.happens(0.7):
            return {"pattern": "^0x[0-9a-fA-F]{40}$"}
        return self.source.pick([{"minLength": 1}, {"maxLength": len(value) + self.source.dice.randint(0, 60)}])

    def written(self):
        """A taught answer in a string: its first sentence, or the whole answer."""
        question = self.source.pick(self.recall.questions)
        text = question.sentences[0] if self.source.happens(0.6) else question.answer
        bounds = {"maxLength": len(text) + self.source.dice.randint(0, 100)} if self.source.happens(0.3) else {}
        ask, key = self.recall.ask(question), self.key("text")
        if self.source.happens(0.15):
            steps = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": len(question.sentences)}
            return ask, self.object_of({key: steps}), {key: question.sentences}
        return ask, self.object_of({key: {"type": "string", **bounds}}), {key: text}

    def chosen(self):
        """One of the listed values: the one in the message, or the first."""
        choices = self.source.pick(self.templates["choices"])
        value = self.source.pick(choices) if self.source.happens(0.75) else choices[0]
        said = self.say("choice", value) if value != choices[0] or self.source.happens(0.5) else self.say("unsaid")
        if self.source.happens(0.15):
            return said, {"type": "string", "enum": choices}, value
        key = self.key("choice")
        return said, self.object_of({key: {"enum": choices}}), {key: value}

    def counted(self):
        number = self.source.dice.randint(0, 10 ** self.source.dice.randint(1, 6))
        schema = {"type": "integer", "minimum": 0}
        if self.source.happens(0.5):
            schema["maximum"] = max(number, 10 ** len(str(number)))
        if self.source.happens(0.15):
            return self.say("count", number), schema, number
        key = self.key("count")
        return self.say("count", number), self.object_of({key: schema}), {key: number}

    def flagged(self):
        value, key = self.source.happens(0.5), self.key("flag")
        return self.say(json.dumps(value)), self.object_of({key: {"type": "boolean"}}), {key: value}

    def listed(self):
        kind = self.source.pick(["token", "chain", "name", "count", "protocol"])
        values = list(dict.fromkeys(self.fillings.draw(kind) for _ in range(self.source.dice.randint(1, 4))))
        said = self.say("list", self.source.pick([", ", " and "]).join(values))
        given = [int(value) for value in values] if kind == "count" else values
        items = {"type": "integer" if kind == "count" else "string"}
        schema = {"type": "array", "items": items, "minItems": 1, "maxItems": max(len(values), 3)}
        if self.source.happens(0.25):
            return said, schema, given
        key = self.key("list")
        return said, self.object_of({key: schema}), {key: given}

    def formatted(self):
        form = self.source.pick(["date", "date-time", "email", "uri", "uuid", "ipv4"])
        value = getattr(self, form.replace("-", "_"))()
        key = self.source.pick([form, self.key("text"), self.fillings.invented()])
        return self.say("format", value), self.object_of({key: {"type": "string", "format": form}}), {key: value}

    def any_object(self):
        """A schema that allows any object: the answer chooses its member."""
        if self.source.happens(0.5):
            question = self.source.pick(self.recall.questions)
            return self.recall.ask(question), ANY_OBJECT, {"answer": question.sentences[0]}
        said, _, value = self.copied()
        return said, ANY_OBJECT, {key: part for key, part in value.items() if part is not None}

    def several(self):
        """Two objects of one definition."""
        key, names = self.key("choice"), self.source.dice.sample(self.templates["keys"]["wrap"], 2)
        pairs = [(self.fillings.draw("token"), self.fillings.draw("count")) for _ in names]
        part = self.object_of({"symbol": {"type": "string"}, "count": {"type": "integer"}})
        schema = self.object_of({name: {"$ref": f"#/$defs/{key}"} for name in names})
        answer = {
            name: {"symbol": token, "count": as_number(count)}
            for name, (token, count) in zip(names, pairs, strict=True)
        }
        said = self.source.pick([" and ", ", "]).join(f"{count} {token}" for token, count in pairs)
        return said, {**schema, "$defs": {key: part}}, answer

    def wrapped(self, schema, value):
        """Wraps a schema and its value one level deeper; definitions stay at the root."""
        definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
        inner = {name: part for name, part in schema.items() if name != "$defs"}
        key = self.key("wrap")
        if definitions or self.source.happens(0.7):
            return {**self.object_of({key: inner}), **definitions}, {key: value}
        return {"type": "array", "items": inner, "minItems": 1, "maxItems": 1}, [value]

    def date(self):
        dice = self.source.dice
        return f"20{dice.randint(10, 39)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"

    def date_time(self):
        dice = self.source.dice
        return f"{self.date()}T{dice.randint(0, 23):02}:{dice.randint(0, 59):02}:{dice.randint(0, 59):02}Z"

    def host(self):
        pick = self.source.pick
        return f"{pick(self.templates['hosts'])}.{self.fillings.invented(2, 3)}.{pick(self.templates['endings'])}"

    def email(self):
        return f"{self.fillings.invented(1, 2)}@{self.host()}"

    def uri(self):
        return f"https://{self.host()}" + self.source.pick(["", "/", f"/{self.fillings.invented()}"])

    def uuid(self):
        digits = "".join(self.source.dice.choices("0123456789abcdef", k=30))
        return f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-a{digits[15:18]}-{digits[18:]}"

    def ipv4(self):
        return ".".join(str(self.source.dice.randint(0, 255)) for _ in range(4))
