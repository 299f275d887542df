"""Lessons of naming the fitting one of several functions, without calling it."""

from training.lessons.fillings import fill
from training.lessons.lesson import Lesson, user
from training.lessons.offers import as_tool

LISTED_SHARE = 0.3
NONE_SHARE = 0.15


class ToolChoice:
    def __init__(self, source, templates, calls):
        self.source, self.templates, self.calls = source, templates, calls

    def lesson(self):
        source = self.source
        wanted, *rest = source.dice.sample(list(self.templates["intents"]), source.dice.randint(3, 5))
        offers = [self.calls.offer(self.calls.by_intent[intent]) for intent in (wanted, *rest)]
        fits = not source.happens(NONE_SHARE)
        answer = fill(self.templates["answer"], {"function": offers[0].name}) if fits else self.templates["none"]
        shown = offers if fits else offers[1:]
        source.dice.shuffle(shown)
        need = source.wording(self.templates["intents"][wanted], "need")
        plan = self.templates["plan"] if source.happens(0.12) else None
        if source.happens(LISTED_SHARE):
            ask = source.wording(self.templates, "listed", "listed_held_out")
            names = ", ".join(offer.name for offer in shown)
            return Lesson("which function", [user(fill(ask, {"list": names, "need": need}))], answer, plan=plan)
        ask = source.wording(self.templates, "asks")
        tools = [as_tool(offer) for offer in shown]
        return Lesson("which function", [user(fill(ask, {"need": need}))], answer, tools, plan)
