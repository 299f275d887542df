"""The members of a request that have no effect, as the header `x-ignored-params` names them.

Only a compiler knows which keywords of a JSON Schema have no effect, so this module knows only the place of the schema.
"""

import re
from collections.abc import Iterator
from typing import Any

from parley_fuzz.contract import Schema, branch_for, limits, member_path, request_schema, resolve


def ignored_names(body: dict[str, Any]) -> list[str]:
    """Returns the members without effect, as `x-ignored-params` names them, in the order of the request."""
    return list(_ignored(request_schema, body, ""))


def maximum_of(body: dict[str, Any]) -> str | None:
    """The member that holds the maximum of tokens."""
    return next((name for name in ("max_completion_tokens", "max_tokens") if body.get(name) is not None), None)


def is_above_model(body: dict[str, Any]) -> bool:
    """Tells a maximum above that of the models. The context may leave even less: only the prompt's size tells."""
    name = maximum_of(body)
    return name is not None and body[name] > limits["maxCompletionTokens"]


def schema_places(body: dict[str, Any]) -> list[str]:
    """Returns the paths of the JSON Schemas that are enforced on an answer or a call. Their ignored keywords are named."""
    response_format = body.get("response_format")
    has_schema = isinstance(response_format, dict) and response_format.get("type") == "json_schema"
    choice = body.get("tool_choice")
    tools = [tool.get("function") if isinstance(tool, dict) else None for tool in body.get("tools") or []]
    return ["response_format.json_schema.schema."] * has_schema + [
        f"tools[{index}].function.parameters."
        for index, function in enumerate(tools)
        if isinstance(function, dict)
        and (function.get("strict") is True or choice == "required" or _is_named(choice, function.get("name")))
    ]


def _is_named(choice: object, name: object) -> bool:
    function = choice.get("function") if isinstance(choice, dict) else None
    return isinstance(function, dict) and function.get("name") == name


def _ignored(schema: Schema, value: object, path: str) -> Iterator[str]:
    schema = resolve(schema)
    if "oneOf" in schema:
        branch = branch_for(schema, value)
        if branch is not None:
            yield from _ignored(branch, value, path)
    elif isinstance(value, list):
        for index, item in enumerate(value if "items" in schema else []):
            yield from _ignored(schema["items"], item, f"{path}[{index}]")
    elif isinstance(value, dict) and "properties" in schema:
        for name, item in value.items():
            member = schema["properties"].get(name)
            at = member_path(path, name)
            if item is None:
                continue
            if member is None or member.get("x-ignored"):
                yield at
            else:
                yield from _ignored(member, item, at)


def is_right_header(found: str | None, body: dict[str, Any]) -> bool:
    """Checks that the header names exactly the members without effect, besides keywords of schemas."""
    named = found.split(",") if found else []
    places = tuple(schema_places(body))
    members = [name for name in named if not name.startswith(places)]
    maximum = maximum_of(body)
    # Where only the context leaves less than the maximum, the prompt's size tells whether it is named.
    ignored = [name for name in _with_maximum(body) if name != maximum or is_above_model(body) or name in members]
    wanted = [_header_name(name) for name in ignored]
    is_full = len(named) == limits["ignoredParamsShown"]
    return len(named) <= limits["ignoredParamsShown"] and members == (wanted[: len(members)] if is_full else wanted)


def _with_maximum(body: dict[str, Any]) -> list[str]:
    """The members without effect and the maximum, in the order of the request."""
    names = ignored_names(body)
    maximum = maximum_of(body)
    if maximum is None:
        return names
    earlier = set(list(body)[: list(body).index(maximum)])
    place = sum(name in earlier or re.split(r"[.\[]", name)[0] in earlier for name in names)
    return [*names[:place], maximum, *names[place:]]


def _header_name(name: str) -> str:
    # A lone surrogate is not in UTF-8; encoders write the replacement character.
    cut = re.sub("[\ud800-\udfff]", "\ufffd", name or "?").encode()[: limits["ignoredParamNameBytes"]]
    return "".join("?" if byte < 0x21 or byte > 0x7E or byte == 0x2C else chr(byte) for byte in cut)
