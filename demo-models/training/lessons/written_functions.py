"""Lessons of callers' functions, written one by one, with messages that want a call and messages that only seem to.

A network of this size generalises little from a few functions. So there are many, of all trades. Each has its own wordings to request it,
to take the request back, to ask about the function, and to request something similar that it cannot do.
"""

import re

from training.chat import render_call
from training.lessons.drawn_values import FORMS, DrawnValues
from training.lessons.fillings import NUMBERS, fill, slots_of
from training.lessons.lesson import Lesson, assistant, user

KEPT_EVERY = 16  # every 16th function is only for the examination
NO_CALLS = ("stopped", "asked", "unfit")
ROUGH_SHARE = 0.2
JOINTS = [
    "{first} and {second}",
    "{first}. {second}",
    "{first}, also {second}",
    "{first}; {second}",
    "first {first}, then {second}",
]
SNAKE = re.compile(r"_([a-z])")
CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")


def is_kept(number):
    """Checks whether the function of this number is only for the examination."""
    return number % KEPT_EVERY == KEPT_EVERY - 1


def in_other_style(name):
    """Converts camelCase to snake_case, and the reverse."""
    if "_" in name:
        return SNAKE.sub(lambda found: found[1].upper(), name)
    return CAMEL.sub(lambda found: "_" + found[1].lower(), name).lower()


def trade_of(entry):
    """Returns the trade of an entry: Web3, life or work. A function of another trade cannot serve a request of this one."""
    return entry["area"].rstrip("ab")


class WrittenFunctions:
    def __init__(self, source, entries, answers, recall, retelling):
        kept = [entry for number, entry in enumerate(entries) if is_kept(number) == source.held_out]
        self.source, self.entries = source, [{**entry, "parameters": entry.get("parameters") or {}} for entry in kept]
        self.answers, self.recall, self.retelling = answers, recall, retelling
        self.values = DrawnValues(source, recall.fillings)
        self.by_area = {}
        for entry in self.entries:
            self.by_area.setdefault(entry["area"], []).append(entry)

    def lesson(self):
        kinds = [self.call] * 6 + [self.no_call] * 7 + [self.session] * 3 + [self.told] * 2
        return self.source.pick([*kinds, self.two, self.missing, self.elsewhere])()

    # The user's message, and the call.

    def filled(self, entry, wording):
        """Returns (the words with filled slots, the arguments of the right call)."""
        said, arguments = (wording["say"], dict(wording["with"])) if isinstance(wording, dict) else (wording, {})
        words = {}
        for name in dict.fromkeys(slots_of(said)):
            words[name], arguments[name] = self.values.draw(entry["parameters"][name])
        return fill(said, words), {name: arguments[name] for name in entry["parameters"] if name in arguments}

    def request(self, entry):
        said, arguments = self.filled(entry, self.source.pick(entry["asks"]))
        return self.roughened(said), arguments

    def roughened(self, said):
        """Sometimes removes the punctuation and capitals at its ends, as people type."""
        if not self.source.happens(ROUGH_SHARE):
            return said[:1].upper() + said[1:] if self.source.happens(0.3) else said
        return said.rstrip("?.!")

    # The offered functions.

    def offered(self, entry, *calls):
        """Returns (one variant of the function, the arguments of each call by its parameter names). The names, and the order and number of
        parameters, vary."""
        restyled = self.source.happens(0.3)
        names = [name for name, parameter in entry["parameters"].items() if self.stays(name, parameter, calls)]
        if self.source.happens(0.3):
            self.source.dice.shuffle(names)
        named = {name: in_other_style(name) if restyled else name for name in names}
        wanted = {name: [call[name] for call in calls if name in call] for name in names}
        properties = {named[name]: self.described(entry["parameters"][name], wanted[name]) for name in names}
        schema = {"type": "object", "properties": properties}
        required = [named[name] for name in names if not entry["parameters"][name].get("optional")]
        if required and self.source.happens(0.85):
            schema["required"] = required
        if self.source.happens(0.15):
            schema["additionalProperties"] = False
        function = {"name": in_other_style(entry["name"]) if restyled else entry["name"]}
        if self.source.happens(0.85):
            function["description"] = entry["about"]
        passed = [{named[name]: call[name] for name in names if name in call} for call in calls]
        return {**function, "parameters": schema}, passed

    def stays(self, name, parameter, calls):
        return not parameter.get("optional") or any(name in call for call in calls) or self.source.happens(0.7)

    def described(self, parameter, wanted):
        form = next(form for form in FORMS if form in parameter)
        schema: dict = dict(self.typed(form, parameter[form]))
        if form == "enum":
            schema["enum"] = self.some_of(parameter["enum"], wanted)
        if form == "number" and self.source.happens(0.3):
            least, most = parameter["number"]
            schema |= {"minimum": min(least, *wanted, least), "maximum": max(most, *wanted, most)}
        if parameter.get("about") and self.source.happens(0.6):
            schema["description"] = parameter["about"]
        return schema

    def typed(self, form, what):
        if form == "list":
            return {"type": "array", "items": {"type": "string"}}
        if form == "kind":
            return {"type": {"amount": "number"}.get(what, "integer") if what in NUMBERS else "string"}
        if form == "said":
            value = next(iter(what.values()))
            return {"type": "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"}
        return {"type": {"number": "integer", "decimal": "number"}.get(form, "string")}

    def some_of(self, texts, wanted):
        """Returns the listed values, sometimes fewer of them, but always with the wanted ones."""
        if self.source.happens(0.7):
            return list(dict.fromkeys([*texts, *wanted]))
        rest = [text for text in texts if text not in wanted]
        chosen = [*wanted, *self.source.dice.sample(rest, min(len(rest), self.source.dice.randint(1, 3)))]
        self.source.dice.shuffle(chosen)
        return list(dict.fromkeys(chosen))

    def tools(self, functions, most=3, apart_from=()):
        """Offers the functions together with others of any kind."""
        taken = {function["name"] for function in functions} | {entry["name"] for entry in apart_from}
        trades = {trade_of(entry) for entry in apart_from}
        all_functions = list(functions)
        for _ in range(self.source.dice.randint(0, most)):
            entry = self.source.pick(self.entries)
            other, _ = self.offered(entry)
            if trade_of(entry) in trades or {other["name"], entry["name"]} & taken:
                continue
            taken |= {other["name"], entry["name"]}
            all_functions.append(other)
        self.source.dice.shuffle(all_functions)
        return [{"type": "function", "function": function} for function in all_functions]

    # The lessons.

    def call(self):
        entry = self.source.pick(self.entries)
        said, arguments = self.request(entry)
        function, (passed,) = self.offered(entry, arguments)
        siblings = []
        if self.source.happens(0.5):
            sibling = self.source.pick(self.by_area[entry["area"]])
            siblings = [] if sibling is entry else [self.offered(sibling)[0]]
        tools = self.tools([function, *siblings], most=2)
        return Lesson(
            "call, written", [*self.recall.neutral(0.2), user(said)], render_call(function["name"], passed), tools
        )

    def no_call(self):
        entry = self.source.pick(self.entries)
        kind = self.source.pick(NO_CALLS)
        said, arguments = self.filled(entry, self.source.pick(entry[kind]))
        function, _ = self.offered(entry, *([arguments] if self.source.happens(0.5) else []))
        tools = self.tools([function], apart_from=[entry] if kind == "unfit" else [])
        answer = self.answers[kind]
        return Lesson("no call, written", [*self.recall.neutral(0.2), user(self.roughened(said))], answer, tools)

    def elsewhere(self):
        """A valid request, but all offered functions are of other trades."""
        entry = self.source.pick(self.entries)
        said, _ = self.request(entry)
        tools = self.tools([], most=4, apart_from=[entry])
        if not tools:
            return self.call()
        return Lesson("no call, written", [user(said)], self.answers["unfit"], tools)

    def two(self):
        """Two requests in one message, to two functions or to the same one."""
        first = self.source.pick(self.entries)
        second = first if self.source.happens(0.4) else self.source.pick(self.entries)
        said_1, arguments_1 = self.filled(first, self.source.pick(first["asks"]))
        said_2, arguments_2 = self.filled(second, self.source.pick(second["asks"]))
        if first is second:
            function_1, (passed_1, passed_2) = self.offered(first, arguments_1, arguments_2)
            functions = [function_1]
        else:
            (function_1, (passed_1,)), (function_2, (passed_2,)) = (
                self.offered(first, arguments_1),
                self.offered(second, arguments_2),
            )
            functions = [function_1, function_2]
        said = fill(self.source.pick(JOINTS), {"first": said_1.rstrip("?.!"), "second": said_2})
        calls = [render_call(functions[0]["name"], passed_1), render_call(functions[-1]["name"], passed_2)]
        return Lesson("two calls, written", [user(said)], "\n".join(calls), self.tools(functions, most=1))

    def missing(self):
        entry = self.source.pick(self.entries)
        if not entry.get("missing"):
            return self.no_call()
        lack = self.source.pick(entry["missing"])
        function, _ = self.offered(entry)
        return Lesson(
            "missing argument, written",
            [user(self.roughened(lack["say"]))],
            lack["answer"],
            self.tools([function], most=2),
        )

    def called(self, entry):
        """Returns (the turns of a request, its call and the result; the retelling; the function)."""
        said, arguments = self.request(entry)
        function, (passed,) = self.offered(entry, arguments)
        drawn = self.source.happens(0.3)
        content, told = self.retelling.result() if drawn else self.retelling.of_data(self.source.pick(entry["results"]))
        call = {"type": "function", "function": {"name": function["name"], "arguments": passed}}
        turns = [
            user(said),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": content},
        ]
        return turns, told, function

    def told(self):
        turns, told, function = self.called(self.source.pick(self.entries))
        return Lesson("retelling", [*self.recall.neutral(0.1), *turns], told, self.tools([function], most=1))

    def session(self):
        """A further message after a call and its result: it needs another call, or none."""
        first = self.source.pick(self.entries)
        turns, told, function = self.called(first)
        turns = [*self.recall.neutral(0.1), *turns, assistant(told)]
        if self.source.happens(0.5):
            kind = self.source.pick(NO_CALLS)
            said, _ = self.filled(first, self.source.pick(first[kind]))
            tools = self.tools([function], most=2, apart_from=[first] if kind == "unfit" else [])
            return Lesson("no call, written", [*turns, user(self.roughened(said))], self.answers[kind], tools)
        second = self.source.pick(self.entries)
        if second is first:
            return self.call()
        said, arguments = self.request(second)
        wanted, (passed,) = self.offered(second, arguments)
        if wanted["name"] == function["name"]:
            return self.call()
        return Lesson(
            "call, written",
            [*turns, user(said)],
            render_call(wanted["name"], passed),
            self.tools([function, wanted], most=1),
        )
