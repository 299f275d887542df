"""Questions with taught answers: alone, after another question, and in the form that a system message asks for."""

import json

from training.corpus import normalise
from training.lessons.lesson import Lesson, assistant, system, user


def as_list(question):
    return "\n".join(f"- {sentence}" for sentence in question.sentences)


def as_json(question):
    return json.dumps({"answer": question.answer}, ensure_ascii=False)


FORMS = {"one_sentence": lambda question: question.sentences[0], "list": as_list, "json": as_json}


class Recall:
    def __init__(self, source, questions, forms, follow_ups, paraphrase):
        self.source, self.questions = source, questions
        self.forms, self.follow_ups, self.paraphrase = forms, follow_ups, paraphrase
        self.kept = {normalise(question.held_out) for question in questions}  # chance must not teach these
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
        if question.facet == "what" and self.source.happens(0.2):
            return self.paraphrase.frame(question.name)
        return self.paraphrase.vary(ask)

    def neutral(self, share):
        """Sometimes a system message that changes nothing."""
        if not self.source.happens(share):
            return []
        return [system(self.source.pick(self.forms["held_out_neutral" if self.source.held_out else "neutral"]))]

    def plain(self, question, ask=None):
        return Lesson("recall", [*self.neutral(0.15), user(ask or self.ask(question))], question.answer)

    def thought(self, question):
        plan = f"The user asks about {question.name}."
        return Lesson("thinking", [*self.neutral(0.1), user(self.ask(question))], question.answer, plan=plan)

    def in_form(self, question, form):
        rule = self.source.wording(self.forms[form])
        return Lesson(f"form {form}", [system(rule), user(self.ask(question))], FORMS[form](question))

    def in_form_later(self, question, form):
        """The form is asked for after the answer."""
        turns = [user(self.ask(question)), assistant(question.answer), user(self.source.pick(self.forms[form]["later"]))]
        return Lesson(f"form {form} later", turns, FORMS[form](question))

    def follow_up(self, pair):
        first, second = pair
        ask = self.source.wording(self.follow_ups[second.facet])
        turns = [user(self.ask(first)), assistant(first.answer), user(ask)]
        return Lesson("follow-up", [*self.neutral(0.1), *turns], second.answer)

    def switch(self, first, second):
        """A new topic after an old one."""
        turns = [user(self.ask(first)), assistant(first.answer), user(self.ask(second))]
        return Lesson("new topic", turns, second.answer)
