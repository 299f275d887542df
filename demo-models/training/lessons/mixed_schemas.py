"""Lessons of schemas with several members and nested shapes. Values that a message does not contain are short, so that every answer ends."""

from training.lessons.fillings import as_number, fill, slots_of

UNKNOWN = "unknown"
LONGEST_COPY = 90  # characters of a message that a string repeats
FORMAT_DEFAULTS = {
    "date": "2000-01-01",
    "date-time": "2000-01-01T00:00:00Z",
    "email": "unknown@example.org",
    "uri": "https://example.org",
    "uuid": "00000000-0000-4000-a000-000000000000",
    "ipv4": "0.0.0.0",
}


class MixedSchemas:
    """As in `Schemas`, every kind returns (the user's message, a schema, the value of the answer)."""

    def __init__(self, schemas, manners, noise):
        self.schemas, self.manners, self.noise = schemas, manners, noise
        self.source, self.templates, self.fillings = schemas.source, schemas.templates, schemas.fillings
        simple = [schemas.chosen, schemas.counted, schemas.flagged, schemas.formatted, schemas.listed]
        self.parts = [*simple, schemas.copied, self.patterned, self.nullable, self.constant]

    def lesson(self):
        kinds = [
            self.unsaid,
            self.unsaid,
            self.unsaid,
            self.unsaid,
            self.merged,
            self.merged,
            self.replied,
            self.replied,
        ]
        return self.schemas.shown(*self.source.pick([*kinds, self.rows, self.mapped, self.either])())

    def part(self):
        """Draws one of the simple kinds whose value is an object."""
        while True:
            said, schema, value = self.source.pick(self.parts)()
            if schema.get("type") == "object":
                return said, schema, value

    def merged(self):
        """Merges the members of two or three objects into one. Sometimes members are optional, left out or described."""
        said, members, value, required = [], {}, {}, []
        for _ in range(self.source.dice.choice([2, 2, 3])):
            words, schema, part = self.part()
            if self.source.happens(0.15):
                schema, part = self.schemas.wrapped(schema, part)
            if schema["type"] != "object" or set(schema["properties"]) & set(members):
                continue
            said.append(words)
            members |= schema["properties"]
            value |= part
            required += [] if self.source.happens(0.15) else schema["required"]
        if self.source.happens(0.2):
            members.setdefault(self.schemas.key("text"), {"type": "string"})  # optional, and not in the message
        if self.source.happens(0.15):
            members = {key: {**schema, "description": f"The {key}."} for key, schema in members.items()}
        schema = {"type": "object", "properties": members}
        if required:
            schema["required"] = required
        if self.source.happens(0.3):
            schema["additionalProperties"] = False
        return " ".join(said), schema, {key: value[key] for key in members if key in value}

    def message(self):
        """Returns (any message, the reply in a string): a statement is repeated, a question is answered."""
        kind = self.source.pick(["statement", "statement", "statement", "question", "other", "asked"])
        if kind == "statement":
            text = self.source.pick(self.schemas.extraction.lines("texts"))
            text = fill(text, {slot: self.fillings.draw(slot) for slot in slots_of(text)})
            return text, text if len(text) <= LONGEST_COPY else UNKNOWN
        if kind == "question":
            question = self.source.pick(self.schemas.recall.questions)
            return self.schemas.recall.ask(question), question.sentences[0]
        if kind == "asked":
            return self.schemas.say(self.source.pick(["unsaid", "demand"])), UNKNOWN
        kinds = ["foreign", "language", "unknown", "live"]
        lesson = self.source.pick(
            [self.manners.greeting, self.noise.short, lambda: self.manners.refusal(self.source.pick(kinds))]
        )()
        return lesson.messages[-1]["content"], lesson.answer

    def unsaid(self):
        """Members of any kind for any message: the first string holds the reply, and the others hold empty values."""
        said, reply = self.message()
        members, value = {}, {}
        for _ in range(self.source.dice.choice([1, 1, 2, 2, 3, 4])):
            kind = self.source.pick(["text", "text", "text", "choice", "count", "flag", "list", "format", "tags"])
            key = self.schemas.key({"format": "text", "tags": "list"}.get(kind, kind))
            key = self.fillings.invented(2, 3) if self.source.happens(0.25) else key
            if key not in members:
                members[key], value[key] = getattr(self, f"empty_{kind}")(reply)
                reply = UNKNOWN if kind == "text" else reply
        return said, self.schemas.object_of(members), value

    def empty_text(self, reply):
        if reply != UNKNOWN and self.source.happens(0.2):
            return {"type": "string", "maxLength": len(reply) + self.source.dice.randint(0, 60)}, reply
        return {"type": "string"}, reply

    def empty_choice(self, _):
        choices = self.source.pick(self.templates["choices"])
        return self.source.pick([{"enum": choices}, {"type": "string", "enum": choices}]), choices[0]

    def empty_count(self, _):
        least, most = self.source.pick([(0, None), (1, 10), (1, 5), (0, 100), (0, 1), (None, None), (2000, 2030)])
        schema = {"type": self.source.pick(["integer", "number"])}
        bounds = {"minimum": least, "maximum": most}
        return {**schema, **{name: bound for name, bound in bounds.items() if bound is not None}}, least or 0

    def empty_flag(self, _):
        return {"type": "boolean"}, False

    def empty_list(self, reply):
        bounds = self.source.pick([{}, {"minItems": 1}, {"minItems": 1, "maxItems": 3}])
        return {"type": "array", "items": {"type": "string"}, **bounds}, [reply] if bounds else []

    def empty_tags(self, _):
        choices = self.source.pick(self.templates["choices"])
        return {"type": "array", "items": {"enum": choices}, "minItems": 1, "maxItems": len(choices)}, [choices[0]]

    def empty_format(self, _):
        form = self.source.pick(list(FORMAT_DEFAULTS))
        return {"type": "string", "format": form}, FORMAT_DEFAULTS[form]

    def replied(self):
        """The answer that would be given without a schema, in the only string."""
        said, reply = self.message()
        key = self.source.pick([self.schemas.key("text"), self.fillings.invented(2, 3)])
        any_key = {"type": "object"}
        if self.source.happens(0.3):
            return said, any_key, {"answer": reply}
        if self.source.happens(0.1):
            return said, {"type": "string"}, reply
        return said, self.schemas.object_of({key: {"type": "string"}}), {key: reply}

    def pairs(self, most=3):
        """Draws several pairs (symbol, number), and a sentence that states them."""
        pairs = {
            self.fillings.draw("token"): self.fillings.draw("amount") for _ in range(self.source.dice.randint(1, most))
        }
        joined = self.source.pick([" is at ", " ", ": ", " costs ", " has "])
        said = self.source.pick([", ", " and ", "; "]).join(f"{name}{joined}{number}" for name, number in pairs.items())
        return {name: as_number(number) for name, number in pairs.items()}, said + self.source.pick(["", "."])

    def rows(self):
        pairs, said = self.pairs()
        name, number = self.source.pick(["symbol", "token", "name", "item", "chain"]), self.schemas.key("count")
        row = self.schemas.object_of({name: {"type": "string"}, number: {"type": "number"}})
        bounds = self.source.pick([{}, {"minItems": 1}, {"minItems": len(pairs), "maxItems": len(pairs)}])
        schema = {"type": "array", "items": row, **bounds}
        value = [{name: key, number: amount} for key, amount in pairs.items()]
        if self.source.happens(0.4):
            return said, schema, value
        key = self.schemas.key("list")
        return said, self.schemas.object_of({key: schema}), {key: value}

    def mapped(self):
        pairs, said = self.pairs()
        schema = {"type": "object", "additionalProperties": {"type": "number"}}
        if self.source.happens(0.5):
            schema |= {"minProperties": 1, "maxProperties": max(3, len(pairs))}
        return said, schema, pairs

    def either(self):
        """One of two shapes, depending on the message."""
        (said, first, value), (_, second, _) = self.part(), self.part()
        shapes = [{**shape, "additionalProperties": False} for shape in (first, second)]
        self.source.dice.shuffle(shapes)
        if set(first["properties"]) & set(second["properties"]):
            return said, first, value
        return said, {self.source.pick(["anyOf", "oneOf"]): shapes}, value

    def constant(self):
        said, schema, value = self.schemas.counted()
        key, word = (
            self.source.pick(["kind", "type", "event", "version"]),
            self.source.pick(self.templates["titles"]).lower(),
        )
        if schema["type"] != "object":
            return said, self.schemas.object_of({key: {"const": word}}), {key: word}
        members = {key: {"const": word}, **schema["properties"]}
        return said, self.schemas.object_of(members), {key: word, **value}

    def nullable(self):
        """A nullable member: its value, or null if the message does not contain it."""
        key, name = self.schemas.key("text"), self.fillings.draw("name")
        schema = self.schemas.object_of({key: {"type": ["string", "null"]}})
        if self.source.happens(0.5):
            return self.schemas.say("unsaid"), schema, {key: None}
        return self.schemas.say("format", name), schema, {key: name}

    def patterned(self):
        drawn = {
            "^[A-Z]{2,6}$": self.fillings.invented(1, 2).upper()[:6],
            "^[a-z]+(-[a-z]+)*$": f"{self.fillings.invented()}-{self.fillings.invented()}",
            "^0x[0-9a-f]{64}$": self.fillings.hash().lower(),
            "^[a-z0-9.-]+[.]eth$": f"{self.fillings.invented()}.eth",
            "^[A-Z]+-[0-9]+$": f"{self.fillings.invented(1, 1).upper()}-{self.fillings.count()}",
        }
        pattern = self.source.pick(list(drawn))
        key = self.source.pick([self.schemas.key("text"), "id", "symbol", "hash", "slug"])
        schema = self.schemas.object_of({key: {"type": "string", "pattern": pattern}})
        return self.schemas.say("format", drawn[pattern]), schema, {key: drawn[pattern]}
