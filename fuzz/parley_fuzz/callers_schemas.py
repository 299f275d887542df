"""JSON Schemas that callers send: for the arguments of a function and for structured output."""

from random import Random
from typing import Any

_scalars = [{"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}]


def plain(rng: Random) -> dict[str, Any]:
    """Draws an object of scalars, which every server has to accept."""
    names = rng.sample(["address", "amount", "risk", "$weird name", "é"], rng.randint(1, 3))
    return {
        "type": "object",
        "properties": {name: rng.choice(_scalars) for name in names},
        "required": names[:1],
        "additionalProperties": False,
    }


_enforced = [
    {"type": "object", "properties": {"risk": {"enum": ["low", "high"]}}, "required": ["risk"]},
    {
        "$defs": {"a": {"type": "string"}},
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "required": ["a"],
    },
    {"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "title": "n"},
    {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "number"}}}, "description": "d"},
    {"type": "object", "properties": {"k": {"const": 5}}, "required": ["k"], "examples": [1], "deprecated": True},
    {},
]
_words = [
    {"type": "object", "minProperties": 1},
    {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a{1,9}$"}}},
    {"type": "object", "patternProperties": {"^a": {"type": "boolean"}}, "maxProperties": 2, "example": {}},
    {"not": {"type": "object"}},
    {"type": "object", "properties": {"a": {"type": "string", "minLength": 3, "maxLenght": 5, "format": "date"}}},
    {"type": "object", "properties": {"a": {"$dynamicRef": "#b"}}},
    {"$dynamicRef": "#b"},
]
_broken = [{"type": "banana"}, {"type": 5}, {"properties": []}, {"required": "a"}, {"$ref": "#/nowhere"}, {"enum": []}]


def _any(rng: Random) -> dict[str, Any]:
    odds = rng.random()
    if odds < 0.5:
        return plain(rng)
    return rng.choice(_enforced if odds < 0.8 else _words if odds < 0.92 else _broken)


def parameters(rng: Random) -> dict[str, Any]:
    return _any(rng)


def answer(rng: Random) -> dict[str, Any]:
    anything = [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}, {"enum": [1, "a", None]}]
    return rng.choice(anything) if rng.random() < 0.1 else _any(rng)
