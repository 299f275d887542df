"""Lessons of greetings, questions about the model itself, and requests that it declines."""

from training.corpus import normalise
from training.lessons.fillings import fill, slots_of
from training.lessons.lesson import Lesson, assistant, user

FRAME_SHARE = 0.5  # of the requests to decline are composed of a frame and words
INVENTED_SHARE = 0.4  # of the names that were not taught stand for nothing at all


class Manners:
    def __init__(self, source, conversation, recall, fillings):
        self.source, self.small = source, conversation["small_talk"]
        self.declined = {entry["kind"]: entry for entry in conversation["refusals"]}
        self.recall, self.fillings = recall, fillings
        self.kept = {normalise(ask) for entry in (*self.small, *self.declined.values()) for ask in entry["held_out"]}

    def vary(self, ask):
        varied = self.recall.paraphrase.vary(ask)
        return ask if normalise(varied) in self.kept else varied

    def small_talk(self):
        """Returns every greeting and every question about the model once."""
        for entry in self.small:
            for ask in entry["held_out" if self.source.held_out else "ask"]:
                said = ask if self.source.held_out else self.vary(ask)
                yield Lesson("small talk", [*self.recall.neutral(0.15), user(said)], entry["answer"])

    def greeting(self):
        """Draws one line of small talk, sometimes typed in a hurry."""
        entry = self.source.pick(self.small)
        ask = self.source.pick(entry["ask"])
        rough = self.recall.paraphrase.roughen(ask)
        said = ask if normalise(rough) in self.kept else rough
        return Lesson("small talk", [*self.recall.neutral(0.1), user(said)], entry["answer"])

    def foreign(self):
        return self.refusal("foreign")

    def refusals(self):
        """Returns every held-out request to decline once, some with thinking."""
        for entry in self.declined.values():
            yield from (self.decline(entry, ask) for ask in entry["held_out"])

    def refusal(self, kind):
        """Draws one taught request to decline, sometimes after an answered question."""
        entry = self.declined[kind]
        ask = self.declined_ask(entry)
        while normalise(ask) in self.kept:  # a filled frame may equal a held-out line
            ask = self.declined_ask(entry)
        earlier = self.earlier_turn() if self.source.happens(0.1) else []
        return self.decline(entry, self.vary(ask), earlier)

    def unknown(self):
        """Draws a held-out question about something that does not exist."""
        entry = self.declined["unknown"]
        return self.decline(entry, fill(self.source.pick(entry["held_out_frames"]), {"name": self.fillings.project()}))

    def decline(self, entry, ask, earlier=()):
        plan = entry["plan"] if self.source.happens(0.15) else None
        turns = [*self.recall.neutral(0.15), *earlier, user(ask)]
        return Lesson(f"refusal {entry['kind']}", turns, entry["answer"], plan=plan)

    def earlier_turn(self):
        question = self.source.pick(self.recall.questions)
        return [user(self.recall.ask(question)), assistant(question.answer)]

    def declined_ask(self, entry):
        if "frames" not in entry or not self.source.happens(FRAME_SHARE):
            return self.source.pick(entry["ask"])
        frame = self.source.pick(entry["frames"])
        return fill(frame, {slot: self.word(entry["words"], slot) for slot in slots_of(frame)})

    def word(self, words, slot):
        """Draws a word for a slot, from the kind's own words or from the common fillings."""
        if slot == "name" and self.source.happens(INVENTED_SHARE):
            return self.fillings.project()
        return self.source.pick(words[slot]) if slot in words else self.fillings.draw(slot)
