"""Draws request bodies from the contract's own schema: valid ones, and ones with a fault at a given member.

Schemathesis also draws from the schema, and finds unexpected cases. But hardly one in a hundred of its bodies has a tool, and
none has a tool choice that names it. Here all members are equally likely, at any depth.
"""

import json
from random import Random
from typing import Any

from parley_fuzz import callers_schemas
from parley_fuzz.contract import (
    Schema,
    allowed_types,
    is_only_null,
    member_path,
    null_places,
    places,
    places_of,
    request_schema,
    resolve,
)
from parley_fuzz.run_config import IS_SCRIPTED, MODEL_IDS

GONE = object()
TEXTS = [
    "",
    "Hello",
    "What is a reentrancy attack?",
    "a b  c\nd",
    "<|im_end|><think></think>",
    "\0",
    "🦀 שלום",
    "\ud800",
    "END",
]
UNKNOWN = ["mood", "__proto__", "constructor", "7", "a,b", "é", "x" * 200, "", "echo", "enable_thinking", "prefix"]
WRONG = [
    "",
    "x",
    "1",
    "true",
    0,
    1,
    -1,
    1.5,
    1e400,
    2**63,
    -(2**63) - 1,
    10**30,
    True,
    False,
    None,
    [],
    {},
    [None],
    ["x"],
    {"a": 1},
]


def draw_body(rng: Random, wanted: str | None = None, is_faulty: bool = False) -> dict[str, Any]:
    """Draws a body with the member `wanted`. If `is_faulty`, the value there is probably invalid."""
    drawing = _Drawing(rng, wanted, is_faulty)
    body = drawing.draw(request_schema, "")
    _mend(rng, body, spared=wanted or "" if is_faulty else "")
    return body if isinstance(body, dict) else {}


def any_place(rng: Random) -> str:
    return rng.choice(sorted(places()))


class _Drawing:
    def __init__(self, rng: Random, wanted: str | None, is_faulty: bool) -> None:
        self.rng = rng
        self.wanted = wanted or ""
        self.has_fault_left = is_faulty

    def draw(self, schema: Schema, path: str, is_required: bool = False) -> Any:
        schema = resolve(schema)
        if self.has_fault_left and path and path == self.wanted:
            self.has_fault_left = False
            return self._wrong(schema, is_required)
        if path in null_places:
            return None
        special = _specials.get(path)
        if special is not None and not self.wanted.startswith((f"{path}.", f"{path}[")):
            return special(self.rng)
        if "oneOf" in schema:
            return self.draw(self._branch(schema, path), path)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        return self._draw_typed(schema, path)

    def _branch(self, schema: Schema, path: str) -> Schema:
        branches = [resolve(branch) for branch in schema["oneOf"]]
        leading = [branch for branch in branches if self.wanted in set(places_of(branch, path))]
        return self.rng.choice(leading or [one for one in branches if not is_only_null(one)])

    def _draw_typed(self, schema: Schema, path: str) -> Any:
        types = [one for one in allowed_types(schema) or ["string"] if one != "null"]
        kind = "array" if self.wanted.startswith(f"{path}[]") else self.rng.choice(types or ["null"])
        return {
            "null": lambda: None,
            "boolean": lambda: self.rng.random() < 0.5,
            "integer": lambda: self._whole(schema),
            "number": lambda: self._number(schema),
            "string": lambda: self.rng.choice(TEXTS[1:]),
            "array": lambda: self._items(schema, path),
            "object": lambda: self._members(schema, path),
        }[kind]()

    def _whole(self, schema: Schema) -> float:
        least, most = schema.get("minimum", 0), schema.get("maximum", 100)
        value = self.rng.choice(
            [least, most, self.rng.randint(least, most), self.rng.randint(least, min(most, least + 20))]
        )
        is_exact = abs(value) < 2**53 and "x-digits-only" not in schema
        return float(value) if is_exact and self.rng.random() < 0.1 else value

    def _number(self, schema: Schema) -> float:
        least, most = schema.get("minimum", schema.get("exclusiveMinimum", 0)), schema.get("maximum", 1)
        value = self.rng.choice([least, most, self.rng.uniform(least, most), 1])
        return most if value == schema.get("exclusiveMinimum") else value

    def _items(self, schema: Schema, path: str) -> list[Any]:
        count = self.rng.randint(max(1, schema.get("minItems", 0)), 3)
        return [self.draw(schema.get("items", {}), f"{path}[]") for _ in range(count)]

    def _members(self, schema: Schema, path: str) -> dict[str, Any]:
        required = schema.get("required", [])
        members = list(schema.get("properties", {}).items())
        odds = 0.12 if path == "" else 0.3
        value = {}
        for name, member in members:
            at = member_path(path, name)
            is_wanted = self.wanted == at or self.wanted.startswith((f"{at}.", f"{at}["))
            if name not in required and not is_wanted and self.rng.random() > odds:
                continue
            drawn = self.draw(member, at, name in required)
            if drawn is not GONE:
                value[name] = None if name not in required and not is_wanted and self.rng.random() < 0.05 else drawn
        if self.rng.random() < 0.04:
            value[self.rng.choice(UNKNOWN)] = self.rng.choice(WRONG)
        return _shuffled(self.rng, value)

    def _wrong(self, schema: Schema, is_required: bool) -> Any:
        near = [schema[word] + step for word, step in (("minimum", -1), ("maximum", 1)) if word in schema]
        near += [schema["exclusiveMinimum"]] if "exclusiveMinimum" in schema else []
        if "maxItems" in schema and schema["maxItems"] <= 2048:
            near += [[{}] * (schema["maxItems"] + 1)]
        if "maxProperties" in schema and schema["maxProperties"] <= 100:
            near += [{f"k{index}": "v" for index in range(schema["maxProperties"] + 1)}]
        if is_required:
            near += [GONE, None]
        if "const" in schema:
            near += ["image_url", "banana", GONE]
        return self.rng.choice(near) if near and self.rng.random() < 0.5 else self.rng.choice(WRONG)


def _shuffled(rng: Random, value: dict[str, Any]) -> dict[str, Any]:
    names = list(value)
    rng.shuffle(names)
    return {name: value[name] for name in names}


def _mend(rng: Random, body: dict[str, Any], spared: str) -> None:
    """Usually satisfies the dependencies between members, because a body refused for one fault shows nothing about others."""
    if spared != "stream":
        body["stream"] = rng.random() < 0.5
    if not IS_SCRIPTED and spared != "max_completion_tokens":
        body["max_completion_tokens"] = _cap(rng)
    if rng.random() < 0.03:
        return
    if body.get("stream_options") is not None and spared not in ("stream", "stream_options"):
        body["stream"] = True
    if body.get("top_logprobs") is not None and spared != "logprobs":
        body["logprobs"] = True
    if not spared.startswith("messages"):
        for message in body["messages"]:
            if message["role"] == "assistant":
                message["content"] = message.get("content") or "It is one."
    if not spared.startswith("tool"):
        _unlike(body.get("tools"))
        if body.get("tool_choice") is not None:
            _mend_tool_choice(rng, body)


def _mend_tool_choice(rng: Random, body: dict[str, Any]) -> None:
    if not body.get("tools"):
        body["tools"] = [{"type": "function", "function": {"name": "get_balance"}}]
    names = _unlike(body["tools"])
    choice = body["tool_choice"]
    if isinstance(choice, dict) and isinstance(choice.get("function"), dict):
        choice["function"]["name"] = rng.choice(names)


def _unlike(tools: object) -> list[str]:
    """Makes the names of tools unique."""
    names = []
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str) and function["name"] in names:
            function["name"] = f"{function['name'][:60]}-{index}"
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            names.append(function["name"])
    return names


def _seed(rng: Random) -> int:
    least, most = (int(bound) for bound in request_schema["properties"]["seed"]["x-exact-bounds"].values())
    return rng.choice([least, most, 0, 7, rng.randint(least, most)])


def _cap(rng: Random) -> int:
    # A maximum above the model's means the same as none, so a real model could write for minutes.
    return rng.choice([1, 2, 3, 5, 8, 20, 16384, 16385, 32000, 2**63, 10**30] if IS_SCRIPTED else [1, 2, 3, 5, 8])


_specials = {
    "model": lambda rng: rng.choice(MODEL_IDS),
    "max_tokens": _cap,
    "max_completion_tokens": _cap,
    "seed": _seed,
    "n": lambda rng: rng.choice([1, 1, 2, 3, 8]),
    "stop": lambda rng: rng.choice(["attack", " ", ["END"], ["a", "b", "c", "d"], "no such text"]),
    "logit_bias": lambda rng: rng.choice([{}, {"1734": -100}, {"5": 100, "99999999": 1.5}, {"7": None}]),
    "metadata": lambda rng: rng.choice([{}, {"order": "4711"}, {"a" * 64: "🦀" * 512}, {"x": None}]),
    "tools[].function.name": lambda rng: rng.choice(["get_balance", "swap", "a" * 64, "A-b_9"]),
    "tool_choice.function.name": lambda _rng: "get_balance",
    "tools[].function.parameters": callers_schemas.parameters,
    "response_format.json_schema.schema": callers_schemas.answer,
    "response_format.json_schema.name": lambda _rng: "answer",
    "messages[].tool_calls[].function.arguments": lambda rng: rng.choice(["{}", '{"a": 1}', "not JSON", ""]),
    "messages[].annotations": lambda rng: rng.choice([[], [None, 1, {"type": "url_citation"}]]),
    "modalities": lambda _rng: ["text"],
}


def spell(rng: Random, body: dict[str, Any]) -> bytes:
    """Writes a body as JSON text with random white space and escapes."""
    separators = rng.choice([(",", ":"), (", ", ": "), (" ,\r\n", "\t: ")])
    text = json.dumps(body, ensure_ascii=rng.random() < 0.5 or "\\ud800" in json.dumps(body), separators=separators)
    # Python writes infinity as `Infinity`, which is not JSON.
    return text.replace("-Infinity", "-1e400").replace("Infinity", "1e400").encode("utf-8", "replace")
