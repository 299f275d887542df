"""Lessons of questions with taught answers: alone, after another question, and in the form that a system message requires."""

from dataclasses import replace

from training.corpus import normalise
from training.lessons.fillings import fill
from training.lessons.forms import shape_answer
from training.lessons.lesson import Lesson, assistant, system, user

FRAME_SHARE = 0.25  # of the questions are asked by a frame of their facet


class Recall:
    def __init__(self, source, questions, manner, follow_ups, paraphrase, fillings):
        self.source, self.questions = source, questions
        self.manner, self.forms = manner, manner["forms"]
        self.follow_ups, self.paraphrase, self.fillings = follow_ups, paraphrase, fillings
        self.kept = {normalise(question.held_out) for question in questions}  # these must not be taught by chance
        self.by_topic = {}
        for question in questions:
            self.by_topic.setdefault(question.topic, []).append(question)
        self.pairs = [
            (first, second)
            for group in self.by_topic.values()
            for first in group
            for second in group
            if first is not second and second.facet in follow_ups
        ]

    def ask(self, question):
        if self.source.held_out:
            return question.held_out
        ask = self.source.pick(question.asks)
        varied = self.reword(question, ask)
        return ask if normalise(varied) in self.kept else varied

    def reword(self, question, ask):
        if self.paraphrase.has_frame(question.facet) and self.source.happens(FRAME_SHARE):
            return self.paraphrase.frame(question.facet, question.name)
        return self.paraphrase.vary(ask)

    def neutral(self, share):
        """Draws, sometimes, a system message that changes nothing."""
        if not self.source.happens(share):
            return []
        return [system(self.source.pick(self.manner["held_out_neutral" if self.source.held_out else "neutral"]))]

    def plain(self, question, ask=None):
        return Lesson("recall", [*self.neutral(0.15), user(ask or self.ask(question))], question.answer)

    def opening(self, question):
        """Teaches only the first tokens of an answer. With these lessons, 98 of 150 held-out wordings were right; with the same number of tokens in full lessons, 58."""
        return replace(self.plain(question), opening=True)

    def thought(self, question):
        plan = f"The user asks about {question.name}."
        return Lesson("thinking", [*self.neutral(0.1), user(self.ask(question))], question.answer, plan=plan)

    def in_form(self, question, form):
        rule, answer = self.formed(question, form, self.source.wording(self.forms[form]))
        return Lesson("form", [system(rule), user(self.ask(question))], answer)

    def in_form_later(self, question, form):
        """The user asks for the form after the answer."""
        rule, answer = self.formed(question, form, self.source.pick(self.forms[form]["later"]))
        turns = [user(self.ask(question)), assistant(question.answer), user(rule)]
        return Lesson("form later", turns, answer)

    def formed(self, question, form, rule):
        """Returns (the rule with a drawn phrase, the answer in that form)."""
        phrase = self.fillings.draw("phrase")
        return fill(rule, {"phrase": phrase}), shape_answer(question, self.forms[form]["shape"], phrase)

    def in_scope(self, question):
        """A system message allows only one area. A question of another area is declined."""
        scope = self.manner["scope"]
        area = question.area if self.source.happens(0.5) else self.source.pick(list(scope["areas"]))
        named = {"area": scope["areas"][area]}
        answer = question.answer if area == question.area else fill(scope["refusal"], named)
        rule = fill(self.source.wording(scope), named)
        return Lesson("scope", [system(rule), user(self.ask(question))], answer)

    def follow_up(self, pair):
        first, second = pair
        ask = self.source.wording(self.follow_ups[second.facet])
        if not self.source.held_out and self.source.happens(0.3):
            ask = self.paraphrase.roughen(ask)
        turns = [user(self.ask(first)), assistant(first.answer), user(ask)]
        return Lesson("follow-up", [*self.neutral(0.1), *turns], second.answer)

    def switch(self, first, second):
        """A new topic after an old one."""
        turns = [user(self.ask(first)), assistant(first.answer), user(self.ask(second))]
        return Lesson("new topic", turns, second.answer)
