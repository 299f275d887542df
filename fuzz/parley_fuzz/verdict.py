"""Derives from the contract whether a request body is accepted or refused, and with which code at which member.

It was written from the contract, not from the server's code, so that each can reveal the other's mistakes.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import Any

from parley_fuzz.contract import (
    Schema,
    allows_type,
    branch_for,
    member_path,
    request_schema,
    resolve,
    schemas,
    tag_of,
    without_indexes,
)


@dataclass(frozen=True)
class Fault:
    """A refusal. `is_certain` is false if only an engine can tell whether a schema of the caller can be enforced."""

    code: str
    param: str | None
    is_certain: bool = True


def faults_of(body: dict[str, Any], text: str) -> Iterator[Fault]:
    """Yields each possible refusal in the order of the contract, up to the first certain one."""
    for fault in chain(_find(request_schema, body, "", _Rules(body, text)), _unsupported(body)):
        yield fault
        if fault.is_certain:
            return


def _unsupported(body: dict[str, Any]) -> Iterator[Fault]:
    """The members of other services that are refused."""
    for entry in request_schema["x-unsupported-members"]:
        *inner, name = entry["member"].split("[].")
        owners = [(f"messages[{at}]", one) for at, one in enumerate(body["messages"])] if inner else [("", body)]
        for path, owner in owners:
            value = owner.get(name)
            if not _is_empty(value) and not any(_is_same(value, one) for one in entry.get("harmless", [])):
                yield Fault("unsupported_parameter", member_path(path, name))


def _is_empty(value: object) -> bool:
    """Tells whether a value asks for nothing: null members mean the same as none."""
    if isinstance(value, dict):
        return all(one is None for one in value.values())
    return value is None or value in ("", [])


class _Rules:
    """The rules across members: `x-dependencies` of the contract."""

    def __init__(self, body: dict[str, Any], text: str) -> None:
        self.body = body
        self.text = text
        self.names: set[str] = set()

    def judge(self, value: object, owner: dict[str, Any], path: str) -> Iterator[Fault]:
        rule = _rules.get(without_indexes(path))
        if rule is not None:
            yield from rule(self, value, owner, path)


def _content(_rules: _Rules, value: object, owner: dict[str, Any], path: str) -> Iterator[Fault]:
    calls = owner.get("tool_calls")
    # Calls that are not a list are a separate fault, which comes after this field.
    has_calls = len(calls) > 0 if isinstance(calls, list) else calls is not None
    if owner.get("role") == "assistant" and value is None and not has_calls:
        yield Fault("missing_required_parameter", path)


def _refused(_rules: _Rules, value: object, _owner: dict[str, Any], path: str) -> Iterator[Fault]:
    if value is not None:
        yield Fault("unsupported_parameter", path)


def _seed(rules: _Rules, value: object, _owner: dict[str, Any], path: str) -> Iterator[Fault]:
    if value is None:
        return
    digits = last_source(rules.text, "seed")
    bounds = request_schema["properties"]["seed"]["x-exact-bounds"]
    if not re.fullmatch(r"-?[0-9]+", digits):
        yield Fault("invalid_type", path)
    elif not int(bounds["minimum"]) <= int(digits) <= int(bounds["maximum"]):
        yield Fault("invalid_value", path)


def last_source(text: str, name: str) -> str:
    """Returns the spelling of a number in the root object. The last of repeated members counts."""
    return json.loads(text, parse_int=_Written, parse_float=_Written)[name].source


class _Written(float):
    """A number that remembers its spelling."""

    source: str

    def __new__(cls, source: str) -> "_Written":
        number = super().__new__(cls, 0)
        number.source = source
        return number


def _needs(other: str) -> Any:
    def rule(rules: _Rules, value: object, _owner: dict[str, Any], path: str) -> Iterator[Fault]:
        if value is not None and rules.body.get(other) is not True:
            yield Fault("invalid_value", path)

    return rule


def _tool_name(rules: _Rules, value: object, _owner: dict[str, Any], path: str) -> Iterator[Fault]:
    if isinstance(value, str):
        if value in rules.names:
            yield Fault("invalid_value", path)
        rules.names.add(value)


def _parameters(_rules: _Rules, value: object, owner: dict[str, Any], path: str) -> Iterator[Fault]:
    if not isinstance(value, dict) or is_plain(value):
        return
    yield Fault("invalid_schema", path, is_certain=owner.get("strict") is True and has_refused_keyword(value))


def _schema(_rules: _Rules, value: object, _owner: dict[str, Any], path: str) -> Iterator[Fault]:
    if isinstance(value, dict) and not is_plain(value):
        yield Fault("invalid_schema", path, is_certain=has_refused_keyword(value))


def _tool_choice(rules: _Rules, value: object, _owner: dict[str, Any], path: str) -> Iterator[Fault]:
    name = _named(value)
    if value != "required" and name is None:
        return
    tools = rules.body.get("tools")
    is_offered = isinstance(tools, list) and (name is None or any(_named(tool) == name for tool in tools))
    if not is_offered:
        yield Fault("invalid_value", path)


def _named(value: object) -> str | None:
    function = value.get("function") if isinstance(value, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


_rules = {
    "messages[].content": _content,
    "messages[].audio": _refused,
    "messages[].function_call": _refused,
    "seed": _seed,
    "top_logprobs": _needs("logprobs"),
    "stream_options": _needs("stream"),
    "tools[].function.name": _tool_name,
    "tools[].function.parameters": _parameters,
    "tool_choice": _tool_choice,
    "response_format.json_schema.schema": _schema,
    "functions": _refused,
    "function_call": _refused,
    "audio": _refused,
    "prediction": _refused,
    "web_search_options": _refused,
}

_refused_keywords = schemas["JsonSchemaFormat"]["properties"]["schema"]["x-json-schema"]["refused"]


def has_refused_keyword(schema: dict[str, Any]) -> bool:
    """Checks for a keyword in the root that is never enforced."""
    return "$schema" not in schema and any(name in schema for name in _refused_keywords)


def is_plain(schema: dict[str, Any]) -> bool:
    """Recognises an object of scalars, which every implementation has to accept."""
    properties = schema.get("properties", {})
    if schema.get("type") != "object" or not set(schema) <= {"type", "properties", "required", "additionalProperties"}:
        return False
    if not isinstance(properties, dict) or schema.get("additionalProperties", False) is not False:
        return False
    scalars = ({"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"})
    required = schema.get("required", [])
    is_listed = isinstance(required, list) and len(set(map(str, required))) == len(required)
    return (
        is_listed and set(map(str, required)) <= set(properties) and all(one in scalars for one in properties.values())
    )


def _find(schema: Schema, value: object, path: str, rules: _Rules) -> Iterator[Fault]:
    schema = resolve(schema)
    faults = _find_in_union if "oneOf" in schema else _find_in_plain
    code = schema.get("x-error-code")
    for fault in faults(schema, value, path, rules):
        yield Fault(code, path) if code else fault


def _find_in_union(schema: Schema, value: object, path: str, rules: _Rules) -> Iterator[Fault]:
    branch = branch_for(schema, value) if allows_type(schema, value) else None
    tag = tag_of(schema)
    if branch is not None:
        yield from _find(branch, value, path, rules)
    elif tag is None or not isinstance(value, dict):
        yield Fault("invalid_type", path)
    else:
        yield _tag_fault(schema, tag, value, member_path(path, tag))


def _tag_fault(schema: Schema, tag: str, value: dict[str, Any], at: str) -> Fault:
    if tag not in value:
        return Fault("missing_required_parameter", at)
    if not isinstance(value[tag], str):
        return Fault("invalid_type", at)
    is_offered_elsewhere = value[tag] in schema.get("x-unsupported-values", [])
    return Fault("unsupported_value" if is_offered_elsewhere else "invalid_value", at)


def _find_in_plain(schema: Schema, value: object, path: str, rules: _Rules) -> Iterator[Fault]:
    if not allows_type(schema, value):
        yield Fault("invalid_type", path)
    elif _breaks_bound(schema, value):
        yield Fault("invalid_value", path)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _find(schema["items"], item, f"{path}[{index}]", rules)
    elif isinstance(value, dict):
        yield from _find_in_members(schema, value, path, rules)


def _find_in_members(schema: Schema, owner: dict[str, Any], path: str, rules: _Rules) -> Iterator[Fault]:
    for name, member in schema.get("properties", {}).items():
        at = member_path(path, name)
        if name in owner:
            yield from _find(member, owner[name], at, rules)
        elif name in schema.get("required", []):
            yield Fault("missing_required_parameter", at)
        yield from rules.judge(owner.get(name), owner, at)
    free = schema.get("additionalProperties")
    if isinstance(free, dict):
        yield from _find_in_free_members(free, schema.get("propertyNames", {}), owner, path, rules)


def _find_in_free_members(
    schema: Schema, names: Schema, owner: dict[str, Any], path: str, rules: _Rules
) -> Iterator[Fault]:
    """Yields the faults in a free object. Names that the caller chose have no order, so any of their faults may be reported."""
    found = [Fault("invalid_value", path) for name in owner if _breaks_bound(names, name)]
    for name, item in owner.items():
        found += _find(schema, item, member_path(path, name), rules)
    for fault in found[:-1]:
        yield Fault(fault.code, fault.param, is_certain=False)
    yield from found[-1:]


def _breaks_bound(schema: Schema, value: object) -> bool:
    if "enum" in schema and not any(_is_same(value, one) for one in schema["enum"]):
        return True
    if "const" in schema and not _is_same(value, schema["const"]):
        return True
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return "x-exact-bounds" not in schema and _is_outside(schema, value)
    if isinstance(value, str):
        pattern = schema.get("pattern")
        # Python's `$` also matches before a line break at the end.
        return _is_long(schema, "Length", value) or (
            pattern is not None and not re.search(re.sub(r"\$$", r"\\Z", pattern), value)
        )
    return _is_long(schema, "Items" if isinstance(value, list) else "Properties", value)


def _is_same(value: object, other: object) -> bool:
    return json.dumps(value) == json.dumps(other)


def _is_outside(schema: Schema, value: float) -> bool:
    return (
        value < schema.get("minimum", float("-inf"))
        or value > schema.get("maximum", float("inf"))
        # A maximum has no upper bound but that of a double.
        or ("x-model-limit" in schema and value == inf)
        or ("exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"])
    )


def _is_long(schema: Schema, unit: str, value: Any) -> bool:
    return not schema.get(f"min{unit}", 0) <= len(value) <= schema.get(f"max{unit}", float("inf"))
