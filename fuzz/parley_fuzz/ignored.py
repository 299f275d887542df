"""The members of a request that have no effect, as the header `x-ignored-params` names them."""

import re
from collections.abc import Iterator
from typing import Any

from parley_fuzz.contract import Schema, branch_for, limits, member_path, request_schema, resolve


def ignored_names(body: dict[str, Any]) -> list[str]:
    """The members without effect, as `x-ignored-params` names them, in the order of the request."""
    return list(_ignored(request_schema, body, ""))


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


def ignored_header(names: list[str]) -> str:
    return ",".join(_header_name(name) for name in names[: limits["ignoredParamsShown"]])


def _header_name(name: str) -> str:
    # A lone surrogate is not in UTF-8; encoders write the replacement character.
    cut = re.sub("[\ud800-\udfff]", "\ufffd", name or "?").encode()[: limits["ignoredParamNameBytes"]]
    return "".join("?" if byte < 0x21 or byte > 0x7E or byte == 0x2C else chr(byte) for byte in cut)
