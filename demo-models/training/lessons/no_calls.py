"""Lessons in which functions are offered but must not be called: the request is taken back, put off, the opposite, or another topic."""

from training.lessons.fillings import fill, slots_of
from training.lessons.lesson import Lesson, user
from training.lessons.offers import as_tool, own_offer, slot_kind


def joined(wording, request):
    """Puts a request into a sentence: unchanged after a colon, otherwise in the form of a part of the sentence."""
    return request if ": {ask}" in wording else request[0].lower() + request[1:]


class NoCalls:
    def __init__(self, source, templates, calls, manners, noise):
        self.source, self.templates, self.calls = source, templates, calls
        self.manners, self.noise = manners, noise

    def lesson(self):
        kinds = [
            self.stopped,
            self.stopped,
            self.opposite,
            self.opposite,
            self.unfit,
            self.other,
            self.asked,
            self.asked,
        ]
        return self.source.pick([*kinds, self.not_listed])()

    def made(self, ask, answer, tools):
        return Lesson("no call", [*self.calls.recall.neutral(0.15), user(ask)], answer, tools)

    def stopped(self):
        request, offer, _ = self.calls.request(self.source.pick(self.calls.entries))
        wording = self.source.pick(self.templates["stopped"])
        ask = fill(wording, {"ask": request if wording.startswith("{ask}") else joined(wording, request)})
        if self.source.happens(0.3):
            ask = self.calls.recall.paraphrase.roughen(ask)
        return self.made(ask, self.templates["answers"]["stopped"], self.calls.tools([offer], most=2))

    def opposite(self):
        entry = self.source.pick(self.templates["opposites"])
        ask = self.source.pick(entry["asks"])
        ask = fill(ask, {slot: self.calls.fillings.draw(slot) for slot in slots_of(ask)})
        return self.made(ask, self.templates["answers"]["unfit"], [self.tool(entry)])

    def tool(self, entry):
        """Offers the function, sometimes under a caller's name. The requests for its opposite contain its arguments."""
        slots = dict.fromkeys(slot for ask in entry["asks"] for slot in slots_of(ask))
        properties = {slot: {"type": "number" if slot in ("amount", "count") else "string"} for slot in slots}
        name = entry["function"] + self.source.pick(["", "", "_v2", "_now"])
        schema = {"type": "object", "properties": properties}
        return {"type": "function", "function": {"name": name, "description": entry["about"], "parameters": schema}}

    def asked(self):
        """A question about the effect of a function."""
        request, offer, _ = self.calls.request(self.source.pick(self.calls.entries))
        request = request.rstrip("?.!")
        ask = fill(self.source.pick(self.templates["asked"]), {"ask": request[0].lower() + request[1:]})
        if self.source.happens(0.3):
            ask = self.calls.recall.paraphrase.roughen(ask)
        return self.made(ask, self.templates["answers"]["asked"], self.calls.tools([offer], most=2))

    def not_listed(self):
        """The function's list does not contain the requested chain."""
        entries = [entry for entry in self.calls.entries if "chain" in entry["slots"]]
        while True:
            # Some entries have no held-out wording that names a chain.
            entry = self.source.pick(entries)
            ask = self.source.wording(entry, "asks")
            if "chain" in slots_of(ask):
                break
        values = {slot: self.calls.fillings.draw(slot_kind(slot, entry["slots"][slot])) for slot in slots_of(ask)}
        offer = own_offer(self.source, entry, dict.fromkeys(values), self.calls.words)
        listed = [chain for chain in self.calls.words["chains"] if chain != values["chain"]]
        chains = self.source.dice.sample(listed, self.source.dice.randint(2, 4))
        chains = [chain.lower() for chain in chains] if self.source.happens(0.5) else chains
        offer.function["parameters"]["properties"][offer.names["chain"]]["enum"] = chains
        return self.made(fill(ask, values), self.templates["answers"]["unfit"], [as_tool(offer)])

    def unfit(self):
        """A request for a function that is not offered."""
        wanted, *rest = self.source.dice.sample(self.calls.entries, self.source.dice.randint(2, 4))
        ask, _, _ = self.calls.request(wanted)
        tools = [as_tool(self.calls.offer(entry)) for entry in rest]
        return self.made(ask, self.templates["answers"]["unfit"], tools)

    def other(self):
        """Greetings, thanks, noise and foreign questions have the same answer as without functions."""
        kinds = [self.manners.greeting, self.manners.greeting, self.manners.foreign, self.language, self.noise.short]
        lesson = self.source.pick([*kinds, self.noise.lesson])()
        return Lesson("no call", lesson.messages, lesson.answer, self.calls.tools([], most=3) or None)

    def language(self):
        return self.manners.refusal("language")
