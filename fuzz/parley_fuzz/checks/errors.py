"""Checks of errors: the envelope, the catalogue, and secrets that an answer must never contain."""

import re
from typing import Any

from parley_fuzz.contract import catalog, edge, parameter_names, place_at_fault, unsupported_members, without_indexes
from parley_fuzz.exchange import Exchange
from parley_fuzz.schema_validators import fault_of

LEAKS = re.compile(
    r"Traceback|node:internal|\n\s+at |\.(?:ts|js|mjs|py):\d+|ECONN|EPIPE|sqlite|127\.0\.0\.1|10\.0\.0\.1|CUDA|/packages/",
    re.IGNORECASE,
)


def error_envelope(exchange: Exchange) -> str | None:
    """Every error has the contract's shape, and code, status, type and `param` that belong together."""
    if exchange.is_taken:
        return None
    if exchange.method == "HEAD":
        return f"an answer to HEAD has a body of {len(exchange.body)} bytes" if exchange.body else None
    if exchange.headers.get("content-type") != "application/json; charset=utf-8":
        return f"an error comes as {exchange.headers.get('content-type')}"
    shape = fault_of("ErrorResponse", exchange.json)
    if shape is not None:
        return f"the envelope is broken: {shape}"
    if exchange.json["request_id"] != exchange.headers.get("x-request-id"):
        return "request_id is not x-request-id"
    return _mismatch(exchange)


def _mismatch(exchange: Exchange) -> str | None:
    error = exchange.error
    entry = catalog[error["code"]]
    is_edge = edge.get(str(exchange.status), {}).get("code") == error["code"]
    if exchange.status != entry["status"] and not (is_edge and error["param"] is None):
        return f"{error['code']} does not go with {exchange.status}"
    if error["type"] != entry["type"]:
        return f"{error['code']} does not go with the type {error['type']}"
    if "param" not in entry:
        return None  # the catalogue of the admin API does not say which errors name a member
    if entry["param"] is None and error["param"] is not None:
        return f"{error['code']} names the member {error['param']}"
    if entry["param"] == "required" and error["param"] is None:
        return f"{error['code']} names no member"
    if error["code"] == "context_length_exceeded":
        return _overflow(error)
    return _unknown_param(error["param"], error["code"], error["message"])


def _overflow(error: dict[str, Any]) -> str | None:
    """Clients match two sentences of this message, and read the sizes in it."""
    details = error.get("details", {})
    names = ("context_length", "prompt_tokens", "max_completion_tokens")
    words = (f"maximum context length is {details.get('context_length')} tokens", "prompt is too long")
    is_told = all(name in details for name in names) and all(one in error["message"] for one in words)
    is_over = is_told and details["prompt_tokens"] >= details["context_length"]
    return None if is_over else f"the overflow is told as {error}"


def _unknown_param(param: str | None, code: str, message: str) -> str | None:
    if param is None or code == "unknown_parameter" or param in parameter_names:
        return None
    is_unsupported = code == "unsupported_parameter" and without_indexes(param) in unsupported_members
    if place_at_fault(param) is None and not is_unsupported:
        return f"param is {param!r}, which is no member of the contract"
    return (
        None
        if param in message or code == "model_not_found" or param == "messages"
        else f"the message does not name {param}"
    )


def no_leak(exchange: Exchange) -> str | None:
    """An answer contains no stack trace, address of an engine or key, except in text that the caller wrote."""
    headers = "\n".join(exchange.headers.values())
    if len(exchange.key) > 7 and (exchange.key in headers or exchange.key.encode() in exchange.body):
        return "the answer holds the key"
    if exchange.is_taken:
        return None
    sent = exchange.sent.decode("utf-8", "replace")
    leak = next((one[0] for one in LEAKS.finditer(exchange.text + headers) if one[0] not in sent), None)
    return None if leak is None else f"the answer tells {leak!r}"
