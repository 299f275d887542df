"""Lessons of function calls: the right function, its arguments, and the answer after its result."""

import json

from training.chat import render_call
from training.lessons.fillings import NUMBERS, as_number, fill, slots_of
from training.lessons.lesson import Lesson, assistant, user
from training.lessons.offers import as_tool, catalogue_offer, own_offer, slot_kind

OWN_FUNCTIONS = ", own functions"
ROUGH_SHARE = 0.25


def listed(offer, parameter, value):
    """Returns the value in the spelling of the parameter's list: `ethereum` for Ethereum."""
    allowed = offer.function["parameters"]["properties"][parameter].get("enum", [])
    return next((one for one in allowed if str(one).lower() == str(value).lower()), value)


class Calls:
    """`own`: the functions have a caller's names instead of those of the catalogue."""

    def __init__(self, source, templates, fillings, recall, own=False):
        self.source, self.templates, self.own = source, templates, own
        self.fillings, self.recall = fillings, recall
        self.entries = templates["functions"]
        self.by_intent = {entry["intent"]: entry for entry in self.entries}
        self.words = fillings.words

    def offer(self, entry, needed=()):
        return own_offer(self.source, entry, needed, self.words) if self.own else catalogue_offer(entry)

    def kind(self, name):
        return name + OWN_FUNCTIONS if self.own else name

    def request(self, entry):
        """Returns (the user's message, the offered function, the arguments of the right call)."""
        ask = self.source.wording(entry, "asks")
        values = {name: self.fillings.draw(slot_kind(name, entry["slots"][name])) for name in slots_of(ask)}
        if "from" in values and values["from"] == values.get("to"):
            return self.request(entry)
        offer = self.offer(entry, values)
        if not self.source.held_out and self.source.happens(ROUGH_SHARE):
            ask = ask.lower().rstrip("?.")  # the slots keep their case
        return fill(ask, values), offer, self.arguments(offer, entry, values)

    def arguments(self, offer, entry, values):
        return {
            parameter: listed(
                offer, parameter, self.value(slot_kind(slot, entry["slots"][slot]), offer.types[slot], values[slot])
            )
            for slot, parameter in offer.names.items()
            if slot in values
        }

    def value(self, kind, type_, text):
        return as_number(text) if kind in NUMBERS and type_ != "string" else text

    def others(self, taken, most=3):
        """Returns other functions, which are offered but not wanted."""
        rest = [entry for entry in self.entries if entry["intent"] not in taken]
        chosen = self.source.dice.sample(rest, self.source.dice.randint(0, most))
        return [self.offer(entry) for entry in chosen]

    def tools(self, wanted, most=3):
        offers = list(wanted) + self.others({offer.intent for offer in wanted}, most)
        self.source.dice.shuffle(offers)
        return [as_tool(offer) for offer in offers]

    def plan(self, *offers):
        if not self.source.happens(0.12):
            return None
        return fill(self.templates["plan"], {"functions": " and ".join(dict.fromkeys(offer.name for offer in offers))})

    def one(self):
        ask, offer, arguments = self.request(self.source.pick(self.entries))
        messages = [*self.recall.neutral(0.25), user(ask)]
        return Lesson(
            self.kind("call"), messages, render_call(offer.name, arguments), self.tools([offer]), self.plan(offer)
        )

    def two(self):
        """Two requests in one message: two calls in one turn."""
        first, second = self.source.dice.choices(self.entries, k=2)
        ask_1, offer_1, arguments_1 = self.request(first)
        ask_2, offer_2, arguments_2 = self.request(second)
        if first is second:
            ask_2, offer_2, arguments_2 = self.again(first, offer_1)
        calls = [render_call(offer_1.name, arguments_1), render_call(offer_2.name, arguments_2)]
        tools = self.tools([offer_1] if first is second else [offer_1, offer_2], most=1)
        parts = {"first": ask_1, "second": ask_2, "second_lower": ask_2[0].lower() + ask_2[1:]}
        joint = self.source.pick(self.templates["both_held_out" if self.source.held_out else "both"])
        return Lesson(
            self.kind("two calls"), [user(fill(joint, parts))], "\n".join(calls), tools, self.plan(offer_1, offer_2)
        )

    def again(self, entry, offer):
        """Requests the same function a second time, if its parameters allow that."""
        while True:
            self.request(entry)  # keeps the sequence of draws for a seed
            wording = self.source.wording(entry, "asks")
            if set(slots_of(wording)) <= set(offer.names):
                break
        values = {name: self.fillings.draw(slot_kind(name, entry["slots"][name])) for name in slots_of(wording)}
        return fill(wording, values), offer, self.arguments(offer, entry, values)

    def direct(self):
        """An invented function, called by its name."""
        template = self.templates["direct"]
        kinds = self.source.dice.sample(template["parameters"], self.source.dice.randint(1, 3))
        slots = {
            kind: {"names": [kind, f"{self.fillings.invented()}_{kind}", self.fillings.invented(2, 3)]}
            for kind in kinds
        }
        name = f"{self.fillings.invented()}_{self.fillings.invented()}"
        entry = {"intent": "direct", "names": [name], "slots": slots}
        offer = own_offer(self.source, entry, kinds, self.words)
        values = {kind: self.fillings.draw(kind) for kind in kinds}
        listed = self.source.pick([" and ", ", "]).join(f"{offer.names[kind]} {values[kind]}" for kind in kinds)
        ask = fill(self.source.wording(template, "asks"), {"function": offer.name, "arguments": listed})
        call = render_call(offer.name, self.arguments(offer, entry, values))
        return Lesson(self.kind("call"), [user(ask)], call, self.tools([offer], most=2), self.plan(offer))

    def missing(self):
        """The request lacks an argument that the function needs. The answer asks for it."""
        entry = self.source.pick(self.entries)
        offer = self.offer(entry, list(entry["slots"]))
        ask = self.source.wording(entry["missing"])
        return Lesson("missing argument", [user(ask)], entry["missing"]["answer"], self.tools([offer], most=2))

    def not_needed(self):
        """Functions are offered, but the message is a taught question."""
        question = self.source.pick(self.recall.questions)
        messages = [*self.recall.neutral(0.25), user(self.recall.ask(question))]
        return Lesson("call not needed", messages, question.answer, self.tools([], most=3) or None)

    def outcome(self, entry):
        """Returns (the function's result, the model's answer)."""
        if self.source.happens(0.12):
            error = self.source.pick(self.templates["errors"])
            return {"error": error}, fill(self.templates["failed"], {"error": error})
        result = self.source.pick(entry["results"])
        slots = slots_of(json.dumps(result["data"]))
        values = {slot: self.result_value(slot) for slot in slots}
        data = {key: self.typed(text, values) for key, text in result["data"].items()}
        return data, fill(result["answer"], values)

    def result_value(self, slot):
        return self.source.pick(self.templates["reasons"]) if slot == "reason" else self.fillings.draw(slot)

    def typed(self, text, values):
        filled = fill(text, values)
        number = any(slot in NUMBERS for slot in slots_of(text))
        return as_number(filled) if number and self.source.happens(0.5) else filled

    def session(self, turns):
        """Several requests to the same functions. Each has a call and an answer, except for the last, which ends with the call."""
        entries = self.source.dice.sample(self.entries, turns)
        drawn = [self.request(entry) for entry in entries]
        messages = [*self.recall.neutral(0.25)]
        for entry, (ask, offer, arguments) in zip(entries[:-1], drawn[:-1], strict=True):
            data, answer = self.outcome(entry)
            call = {"type": "function", "function": {"name": offer.name, "arguments": arguments}}
            messages += [
                user(ask),
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "content": json.dumps(data)},
                assistant(answer),
            ]
        ask, offer, arguments = drawn[-1]
        offers = {offer.name: offer for _, offer, _ in drawn}
        tools = self.tools(list(offers.values()), most=1)
        return Lesson(
            self.kind("call"), [*messages, user(ask)], render_call(offer.name, arguments), tools, self.plan(offer)
        )

    def answered(self, count=1):
        """The functions have returned, and the answer states the result."""
        entries = [self.source.pick(self.entries) for _ in range(count)]
        asks, offers, calls, replies, answers = [], [], [], [], []
        for entry in entries:
            ask, offer, arguments = self.request(entry)
            data, answer = self.outcome(entry)
            asks.append(ask)
            offers.append(offer)
            calls.append({"type": "function", "function": {"name": offer.name, "arguments": arguments}})
            replies.append({"role": "tool", "content": json.dumps(data)})
            answers.append(answer)
        turn = {"role": "assistant", "content": None, "tool_calls": calls}
        plan = self.templates["result_plan"] if self.source.happens(0.12) else None
        messages = [user(" ".join(asks)), turn, *replies]
        return Lesson("tool result", messages, " ".join(answers), self.tools(offers, most=1), plan)
