"""Checks that a request was rightly accepted or refused, with the right code at the right member."""

from collections.abc import Iterator
from typing import Any

from parley_fuzz.checks.answer import scenario_of
from parley_fuzz.contract import limits
from parley_fuzz.exchange import Exchange, NotJson, parse_json
from parley_fuzz.ignored import ignored_names, is_above_model, maximum_of, schema_places
from parley_fuzz.run_config import KEY, LIMITED_KEY, MODEL_IDS, SCENARIOS, SPENT_KEY
from parley_fuzz.verdict import faults_of

SMALL_BODY_BYTES = 16_000
"""A token covers at least one byte: a body of this size fits into every context."""


def judgement(exchange: Exchange) -> str | None:
    """The contract allows the status, code and member of this answer for this request."""
    if not exchange.is_chat or exchange.status in (414, 417, 431):
        return _edge(exchange)
    allowed = list(_outcomes(exchange))
    param = exchange.error.get("param")
    found = (exchange.status, exchange.error.get("code"), param)
    if found in allowed:
        return None
    shown = " or ".join(f"{status} {code or ''} {at or ''}".strip() for status, code, at in allowed)
    return f"answered with {found[0]} {found[1] or ''} {param or ''}, and the contract says {shown}"


Outcome = tuple[int, str | None, str | None]


def _edge(exchange: Exchange) -> str | None:
    """Checks refusals of a head, and codes that only a chat request can get. A URL longer than a whole head counts as a large head."""
    headers = sum(len(name) + len(value) for name, value in exchange.sent_headers.items())
    reasons = {
        414: len(exchange.path) > 4000,
        431: headers + len(exchange.path) > 12_000,
        417: exchange.sent_headers.get("expect", "100-continue").lower() != "100-continue",
    }
    return None if reasons.get(exchange.status, exchange.status < 500) else f"{exchange.status} for no reason"


def _outcomes(exchange: Exchange) -> Iterator[Outcome]:
    """Yields the allowed answers, in the order in which a server checks a request."""
    if exchange.key not in (KEY, LIMITED_KEY, SPENT_KEY):
        yield 401, "invalid_api_key", None
        return
    if exchange.key == SPENT_KEY:
        yield 402, "insufficient_quota", None
        return
    if exchange.key == LIMITED_KEY:
        yield 429, "rate_limit_exceeded", None
    if not _is_json_declared(exchange):
        yield 415, "unsupported_media_type", None
        return
    if len(exchange.sent) > limits["maxBodyBytes"]:
        yield 413, "request_too_large", None
        return
    try:
        # The server skips a byte order mark, as RFC 8259, 8.1 allows.
        text = exchange.sent.decode("utf-8-sig")
        body = parse_json(text)
    except (NotJson, UnicodeDecodeError):
        yield 400, "invalid_json", None
        return
    if depth_of(text) > limits["maxNestingLevels"]:
        yield 400, "invalid_json", None
    elif not isinstance(body, dict):
        yield 400, "invalid_type", None
    else:
        yield from _for_body(exchange, body, text)


def _is_json_declared(exchange: Exchange) -> bool:
    kind, *parameters = exchange.sent_headers.get("content-type", "").lower().replace(" ", "").split(";")
    is_utf8 = all(one in ("", "charset=utf-8", 'charset="utf-8"') for one in parameters)
    return (
        kind == "application/json"
        and is_utf8
        and exchange.sent_headers.get("content-encoding", "identity") == "identity"
    )


def depth_of(text: str) -> int:
    level = deepest = 0
    is_string = is_escaped = False
    for letter in text:
        if is_string:
            is_string = is_escaped or letter != '"'
            is_escaped = letter == "\\" and not is_escaped
        elif letter == '"':
            is_string = True
        elif letter in "[{":
            level += 1
            deepest = max(deepest, level)
        elif letter in "]}":
            level -= 1
    return deepest


def _for_body(exchange: Exchange, body: dict[str, Any], text: str) -> Iterator[Outcome]:
    faults = list(faults_of(body, text))
    yield from ((400, fault.code, fault.param) for fault in faults)
    if faults and faults[-1].is_certain:
        return
    names = ignored_names(body)
    is_strict = exchange.sent_headers.get("x-strict-params", "").lower() == "true"
    param = exchange.error.get("param")
    if is_strict and isinstance(param, str) and param.startswith(tuple(schema_places(body))):
        yield 400, "unknown_parameter", param
    if names and is_strict:
        yield 400, "unknown_parameter", names[0]
    elif body["model"] not in MODEL_IDS:
        yield 404, "model_not_found", "model"
    else:
        yield from _for_valid(exchange, is_strict)


def _for_valid(exchange: Exchange, is_strict: bool) -> Iterator[Outcome]:
    scenario = scenario_of(exchange)
    is_small = len(exchange.sent) <= SMALL_BODY_BYTES
    if not is_small:
        yield 400, "context_length_exceeded", "messages"
    maximum = maximum_of(exchange.asked)
    is_above = maximum is not None and is_above_model(exchange.asked)
    if is_strict and maximum is not None and (is_above or not is_small):
        yield 400, "unknown_parameter", maximum
        if is_above:
            return
    if scenario in SCENARIOS:
        code = {502: "upstream_error", 504: "timeout"}[SCENARIOS[scenario]]
        yield SCENARIOS[scenario], code, None
        if scenario != "breaks" or exchange.asked.get("stream") is not True:
            return
    yield 200, None, None
