"""The bundled contract, and the paths of the members of a request."""

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

document: dict[str, Any] = json.loads(Path(os.environ["FUZZ_CONTRACT"]).read_text())
catalog: dict[str, dict[str, Any]] = document["x-error-catalog"]
edge: dict[str, dict[str, Any]] = document.get("x-edge-statuses", {})
schemas: dict[str, Schema] = document["components"]["schemas"]
limits: dict[str, Any] = {name: limit["value"] for name, limit in document.get("x-limits", {}).items()}

CHAT = "/v1/chat/completions"


def resolve(part: Schema) -> Schema:
    while "$ref" in part:
        *_, kind, name = part["$ref"].split("/")
        part = document["components"][kind][name]
    return part


# The document of the admin API has no chat request.
request_schema: Schema = schemas.get("ChatCompletionRequest", {"x-dependencies": [], "x-unsupported-members": []})

null_places: frozenset[str] = frozenset(
    rule["member"] for rule in request_schema["x-dependencies"] if rule["code"] == "unsupported_parameter"
)
"""The paths of members that a rule refuses unless they are null. Their schema allows more."""


def allowed_types(schema: Schema) -> list[str] | None:
    """Returns the JSON types that a schema allows (for a union, of all branches), or None if it allows any."""
    types = schema.get("type")
    if types is not None or "oneOf" not in schema:
        return [types] if isinstance(types, str) else types
    branches = [allowed_types(resolve(branch)) for branch in schema["oneOf"]]
    return None if None in branches else [one for branch in branches for one in branch or []]


def types_of(value: object) -> list[str]:
    """Returns the JSON types of a value. A number without a fraction is an integer, in any spelling and of any size."""
    if value is None:
        return ["null"]
    if isinstance(value, bool):
        return ["boolean"]
    if isinstance(value, int | float):
        is_whole = isinstance(value, int) or value in (float("inf"), float("-inf")) or value == int(value)
        return ["integer", "number"] if is_whole else ["number"]
    return [{str: "string", list: "array", dict: "object"}[type(value)]]


def allows_type(schema: Schema, value: object) -> bool:
    allowed = allowed_types(schema)
    return allowed is None or any(one in allowed for one in types_of(value))


def tag_of(schema: Schema) -> str | None:
    return schema.get("discriminator", {}).get("propertyName")


def branch_for(schema: Schema, value: object) -> Schema | None:
    """Finds the branch of a union for a value: by its tag if there is one, else by its JSON type."""
    branches = [resolve(branch) for branch in schema["oneOf"]]
    tag = tag_of(schema)
    if tag is None:
        return next((branch for branch in branches if allows_type(branch, value)), None)
    given = value.get(tag) if isinstance(value, dict) else None
    return next((one for one in branches if isinstance(given, str) and given in one["properties"][tag]["enum"]), None)


def is_only_null(schema: Schema) -> bool:
    return allowed_types(schema) == ["null"]


def member_path(parent: str, name: str) -> str:
    return name if parent == "" else f"{parent}.{name}"


def without_indexes(path: str) -> str:
    return re.sub(r"\[\d+\]", "[]", path)


def places_in(value: object, schema: Schema = request_schema, path: str = "") -> Iterator[str]:
    """Yields the paths of the contract that a body sets, without indexes. Null counts only if no other value is allowed there."""
    schema = resolve(schema)
    if "oneOf" in schema:
        branch = branch_for(schema, value)
        if branch is not None:
            yield from places_in(value, branch, path)
    elif isinstance(value, list) and "items" in schema:
        for item in value:
            yield from places_in(item, schema["items"], f"{path}[]")
    elif isinstance(value, dict):
        for name, member in schema.get("properties", {}).items():
            at = member_path(path, name)
            if name not in value or (value[name] is None and at not in null_places):
                continue
            yield at
            yield from places_in(value[name], member, at)


# Paths of members that only other services know, and that this one refuses.
unsupported_members = frozenset(entry["member"] for entry in request_schema["x-unsupported-members"])


# Names of headers and parts of paths, which an error may name, too.
parameter_names = frozenset(parameter["name"] for parameter in document["components"]["parameters"].values())


@cache
def places() -> frozenset[str]:
    """Returns every member of the contract's request, at every depth."""
    return frozenset(places_of(request_schema, ""))


def places_of(schema: Schema, path: str) -> Iterator[str]:
    schema = resolve(schema)
    for branch in schema.get("oneOf", []):
        yield from places_of(branch, path)
    if "items" in schema:
        yield from places_of(schema["items"], f"{path}[]")
    for name, member in schema.get("properties", {}).items():
        at = member_path(path, name)
        yield at
        yield from places_of(member, at)


def place_at_fault(param: str) -> str | None:
    """Finds the deepest member of the contract on the path of an `error.param`. Names inside a free object are not members."""
    path = without_indexes(param)
    while path and path not in places():
        path = path.rpartition(".")[0] if not path.endswith("[]") else path[:-2]
    return path or None
