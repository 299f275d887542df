"""Lessons of schemas that were written one by one, each with messages and their only right answer."""

import json

from training.chat import show_schema
from training.lessons.lesson import Lesson, system, user

KEPT_EVERY = 16  # every 16th schema is only for the examination
OTHER_WORDS_SHARE = 0.4  # of the strings that are copied
FREE_TEXT = {"type", "description", "title"}  # the keywords of a string that may be any text


class WrittenSchemas:
    def __init__(self, source, entries, recall, fillings):
        kept = [e for at, e in enumerate(entries) if (at % KEPT_EVERY == KEPT_EVERY - 1) == source.held_out]
        self.source, self.entries = source, kept
        self.recall, self.fillings = recall, fillings

    def lesson(self):
        entry = self.source.pick(self.entries)
        case = self.source.pick(entry["cases"])
        said, value = self.in_other_words(entry["schema"], case["said"], case["value"])
        before = [message["content"] for message in self.recall.neutral(0.25)]
        messages = [system("\n\n".join([*before, show_schema(entry["schema"])])), user(said)]
        return Lesson("schema, written", messages, json.dumps(value, ensure_ascii=False))

    def in_other_words(self, schema, said, value):
        """Sometimes replaces strings that are copied from the message by invented ones, in both, so that the model learns to copy."""
        if not isinstance(value, dict):
            return said, value
        value = dict(value)
        for key, part in schema.get("properties", {}).items():
            text = value.get(key)
            is_free = part.get("type") == "string" and set(part) <= FREE_TEXT
            if not (is_free and text and said.count(text) == 1 and self.source.happens(OTHER_WORDS_SHARE)):
                continue
            words = [self.fillings.invented(1, 3) for _ in text.split()[:3]]
            other = " ".join(word.capitalize() if text[:1].isupper() else word for word in words)
            said, value[key] = said.replace(text, other), other
        return said, value
