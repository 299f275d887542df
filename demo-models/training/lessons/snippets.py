"""Lessons of Solidity snippets: the answer names the flaw, or says that none is known."""

import json

from training.lessons.fillings import fill, slots_of
from training.lessons.lesson import Lesson, assistant, system, user

SOUND_SHARE = 0.15
FORM_SHARE = 0.25
LATER_SHARE = 0.15


class Snippets:
    def __init__(self, source, templates, recall):
        self.source, self.templates, self.recall = source, templates, recall

    def lesson(self):
        source = self.source
        if source.happens(SOUND_SHARE):
            return Lesson("snippet", self.opening(self.templates["sound"]), self.templates["sound"]["answer"])
        flaw = source.pick(self.templates["flaws"])
        if source.happens(FORM_SHARE):
            return self.in_form(flaw)
        answer = fill(self.templates["answer"], flaw)
        if source.happens(LATER_SHARE):
            turns = [*self.opening(flaw), assistant(answer), user(source.wording(self.templates["later"]))]
            return Lesson("snippet", turns, flaw["fix"])
        plan = self.templates["plan"] if source.happens(0.12) else None
        return Lesson("snippet", self.opening(flaw), answer, plan=plan)

    def in_form(self, flaw):
        form = self.source.pick(self.templates["forms"])
        messages = [system(self.source.wording(form, "systems")), user(self.ask(flaw))]
        if "json" in form:
            return Lesson("snippet", messages, json.dumps({"flaw": flaw["name"], "reason": flaw["reason"]}))
        return Lesson("snippet", messages, fill(form["answer"], flaw))

    def opening(self, flaw):
        return [*self.recall.neutral(0.2), user(self.ask(flaw))]

    def ask(self, flaw):
        return fill(self.source.wording(self.templates, "asks", "held_out_asks"), {"code": self.code(flaw)})

    def code(self, flaw):
        """Draws one of the flaw's shapes with new names, all different."""
        shape = self.source.wording(flaw, "shapes").rstrip("\n")
        words = {**self.templates["fillings"], **flaw.get("fillings", {})}
        values = {}
        for slot in dict.fromkeys(slots_of(shape)):
            free = [word for word in words[slot] if word not in values.values()]
            values[slot] = self.source.pick(free)
        return fill(shape, values)
