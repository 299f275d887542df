"""Greetings, what the model is, and what it declines."""

from training.corpus import normalise
from training.lessons.lesson import Lesson, assistant, user


class Manners:
    def __init__(self, source, conversation, recall, fillings):
        self.source, self.conversation = source, conversation
        self.recall, self.fillings = recall, fillings
        entries = [*conversation["small_talk"], *conversation["refusals"]]
        self.kept = {normalise(ask) for entry in entries for ask in entry["held_out"]}

    def wordings(self, entry):
        return entry["held_out"] if self.source.held_out else entry["ask"]

    def vary(self, ask):
        if self.source.held_out:
            return ask
        varied = self.recall.paraphrase.vary(ask)
        return ask if normalise(varied) in self.kept else varied

    def small_talk(self):
        """Every greeting and question about the model once."""
        for entry in self.conversation["small_talk"]:
            for ask in self.wordings(entry):
                yield Lesson("small talk", [*self.recall.neutral(0.15), user(self.vary(ask))], entry["answer"])

    def refusals(self):
        """Every question to decline once, some after an answered one, some with thinking."""
        for entry in self.conversation["refusals"]:
            for ask in self.wordings(entry):
                plan = entry["plan"] if self.source.happens(0.15) else None
                turns = [*self.recall.neutral(0.15), user(self.vary(ask))]
                if self.source.happens(0.15) and not self.source.held_out:
                    turns = [*self.earlier_turn(), turns[-1]]
                yield Lesson(f"refusal {entry['kind']}", turns, entry["answer"], plan=plan)

    def earlier_turn(self):
        question = self.source.pick(self.recall.questions)
        return [user(self.recall.ask(question)), assistant(question.answer)]

    def unknown(self):
        """A question about something that does not exist."""
        entry = next(e for e in self.conversation["refusals"] if e["kind"] == "unknown")
        frames = self.conversation["unknown_held_out" if self.source.held_out else "unknown_frames"]
        ask = self.source.pick(frames).format(name=self.fillings.project())
        return Lesson("refusal unknown", [*self.recall.neutral(0.1), user(self.vary(ask))], entry["answer"])
