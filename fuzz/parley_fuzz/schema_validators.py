"""Validators of the contract's answers. They are closed: an answer may have no member that the contract does not name."""

import json
from functools import cache
from typing import Any

import jsonschema_rs

from parley_fuzz.contract import Schema, schemas


def close(schema: Any) -> Any:
    """Returns a copy in which every object refuses members that its schema does not name."""
    if isinstance(schema, list):
        return [close(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: close(one) for name, one in schema.items() if name != "examples"}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


@cache
def _definitions() -> dict[str, Any]:
    return close(json.loads(json.dumps(schemas).replace("#/components/schemas/", "#/$defs/")))


@cache
def _validator(name: str) -> Any:
    return jsonschema_rs.validator_for(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": f"#/$defs/{name}",
            "$defs": _definitions(),
        }
    )


def fault_of(name: str, value: object) -> str | None:
    """Returns the reason why a value does not match the closed schema of this name, if it does not."""
    error = next(_validator(name).iter_errors(value), None)
    return None if error is None else f"{error.message[:300]} (at {list(error.instance_path)})"


def header_is_valid(schema: Schema, text: str) -> bool:
    value: object = int(text) if schema.get("type") == "integer" and text.isdigit() else text
    return bool(_header_validator(json.dumps(schema)).is_valid(value))


@cache
def _header_validator(schema: str) -> Any:
    """Caches a validator by the text of its schema, because compiling takes longer than all other work on an answer."""
    own = json.loads(schema.replace("#/components/schemas/", "#/$defs/"))
    return jsonschema_rs.validator_for({**own, "$defs": _definitions()})
