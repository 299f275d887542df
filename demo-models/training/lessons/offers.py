"""The functions that a caller offers: those of the fixed catalogue, or a caller's own, which are newly drawn each time."""

from dataclasses import dataclass

from training.lessons.fillings import NUMBERS, slots_of

CATALOGUE_TYPES = {"amount": "number", "block": "integer", "count": "integer"}


@dataclass(frozen=True)
class Offer:
    """One offered function, and the names of its parameters."""

    intent: str
    function: dict
    names: dict  # slot → name of the parameter
    types: dict  # slot → JSON type

    @property
    def name(self):
        return self.function["name"]


def slot_kind(name, slot):
    return slot.get("kind", name)


def catalogue_offer(entry):
    """Offers the function of `entry` with its first names and every parameter. Parameters that every request names are required."""
    kinds = {name: slot_kind(name, slot) for name, slot in entry["slots"].items()}
    names = {name: slot["names"][0] for name, slot in entry["slots"].items()}
    types = {name: CATALOGUE_TYPES.get(kind, "string") for name, kind in kinds.items()}
    always = set.intersection(*(set(slots_of(ask)) for ask in (*entry["asks"], *entry["held_out"])))
    schema = {"type": "object", "properties": {names[name]: {"type": types[name]} for name in names}}
    schema["required"] = [names[name] for name in names if name in always]
    function = {"name": entry["names"][0], "description": entry["about"][0], "parameters": schema}
    return Offer(entry["intent"], function, names, types)


def json_type(source, kind):
    if kind not in NUMBERS:
        return "string"
    return source.pick(["number" if kind == "amount" else "integer", "string"])


def parameter(source, kind, slot, type_, words, value):
    schema = {"type": type_}
    if slot.get("about") and source.happens(0.4):
        schema["description"] = source.pick(slot["about"])
    if kind == "chain" and source.happens(0.35):
        chains = some_chains(source, words["chains"], value)
        schema["enum"] = [chain.lower() for chain in chains] if source.happens(0.5) else chains
    if kind == "choice" and source.happens(0.6):
        schema["enum"] = words["choices"]
    return schema


def some_chains(source, chains, wanted):
    """Draws three chains, including the one that the request names."""
    chosen = source.dice.sample(chains, 3)
    if wanted and wanted not in chosen:
        chosen[source.dice.randrange(3)] = wanted
    return chosen


def own_offer(source, entry, needed, words):
    """Offers a caller's own function for `entry`: drawn names and descriptions, the slots of `needed` and perhaps some more, in any order.
    `needed` may hold their values."""
    values = needed if isinstance(needed, dict) else {}
    slots = [name for name in entry["slots"] if name in needed or source.happens(0.4)]
    source.dice.shuffle(slots)
    kinds = {name: slot_kind(name, entry["slots"][name]) for name in slots}
    types = {name: json_type(source, kinds[name]) for name in slots}
    names = {name: source.pick(entry["slots"][name]["names"]) for name in slots}
    if len(set(names.values())) != len(names):
        names = {name: entry["slots"][name]["names"][0] for name in slots}
    properties = {
        names[name]: parameter(source, kinds[name], entry["slots"][name], types[name], words, values.get(name))
        for name in slots
    }
    schema = {"type": "object", "properties": properties}
    required = [names[name] for name in slots if name in needed]
    if required and source.happens(0.8):
        schema["required"] = required
    return Offer(entry["intent"], describe(source, entry, schema), names, types)


def describe(source, entry, schema):
    function = {"name": source.pick(entry["names"])}
    if source.happens(0.2):
        function["name"] += source.pick(["_v2", "_now", "2", "_tool", "_info"])
    if entry.get("about") and source.happens(0.8):
        function["description"] = source.pick(entry["about"])
    return {**function, "parameters": schema}


def as_tool(offer):
    return {"type": "function", "function": offer.function}
