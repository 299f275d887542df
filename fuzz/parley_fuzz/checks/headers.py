"""Checks of an answer's headers: those that its status declares, and the rules between them."""

import math
import re

from parley_fuzz.contract import document, limits, resolve
from parley_fuzz.exchange import Exchange
from parley_fuzz.ignored import ignored_names, is_right_header
from parley_fuzz.schema_validators import header_is_valid

LIMIT_HEADERS = [
    f"x-ratelimit-{what}-{unit}" for what in ("limit", "remaining", "reset") for unit in ("requests", "tokens")
]
_seen_ids: set[str] = set()


def response_headers(exchange: Exchange) -> str | None:
    """Checks that required headers are present and each has its form, that request ids are unique, and that a caller's id is echoed."""
    for name, header in _declared(exchange).items():
        value = exchange.headers.get(name)
        if value is None and header.get("required"):
            return f"{name} is missing on {exchange.status}"
        if value is not None and not header_is_valid(header["schema"], value):
            return f"{name} is {value!r}"
    return _request_ids(exchange) or _cors(exchange) or _stream_headers(exchange)


def _declared(exchange: Exchange) -> dict[str, dict]:
    operations = document["paths"].get(exchange.path) or document["paths"][_template(exchange.path)]
    operation = operations.get(exchange.method.lower()) or next(
        iter(one for one in operations.values() if "responses" in one)
    )
    answer = resolve(operation["responses"].get(str(exchange.status), {}))
    return {name.lower(): resolve(header) for name, header in answer.get("headers", {}).items()}


def _template(path: str) -> str:
    return "/v1/usage/{request_id}" if path.startswith("/v1/usage/") else "/v1/models/{model}"


def _request_ids(exchange: Exchange) -> str | None:
    own = exchange.headers.get("x-request-id", "")
    if own == "" or own in _seen_ids or own == exchange.sent_headers.get("x-request-id"):
        return f"x-request-id is {own!r}: absent, used before, or the caller's"
    _seen_ids.add(own)
    sent = exchange.sent_headers.get("x-client-request-id")
    is_lawful = sent is not None and re.fullmatch(f"[ -~]{{1,{limits['clientRequestIdCharacters']}}}", sent) is not None
    echoed = exchange.headers.get("x-client-request-id")
    if exchange.status in (400, 414, 431, 505) and echoed is None:
        return None  # A head that cannot be parsed has no header to echo.
    is_echoed = echoed == (sent.strip() if is_lawful and sent else None)
    return None if is_echoed else f"X-Client-Request-Id {sent!r} is answered with {echoed!r}"


def _cors(exchange: Exchange) -> str | None:
    cors = [name for name in exchange.headers if name.startswith("access-control-")]
    return f"{cors[0]} without an Origin" if cors and "origin" not in exchange.sent_headers else None


def _stream_headers(exchange: Exchange) -> str | None:
    if not exchange.is_stream:
        return None
    found = {name: exchange.headers.get(name) for name in ("cache-control", "x-accel-buffering")}
    wanted = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
    return None if found == wanted else f"a stream has {found}"


def rate_limit_headers(exchange: Exchange) -> str | None:
    """All six headers are present with an accepted key and absent with a refused one. The remainder is within the limit."""
    found = [name for name in LIMIT_HEADERS if name in exchange.headers]
    if exchange.status == 401:
        return f"a 401 shows {found[0]}" if found else None
    if found != LIMIT_HEADERS:
        return (
            None
            if exchange.status in (400, 414, 431, 505) and not found
            else f"{sorted(set(LIMIT_HEADERS) - set(found))} missing"
        )
    for unit in ("requests", "tokens"):
        limit, left = (int(exchange.headers[f"x-ratelimit-{what}-{unit}"]) for what in ("limit", "remaining"))
        if not 0 <= left <= limit:
            return f"{left} {unit} of {limit} are left"
    return None


def retry_headers(exchange: Exchange) -> str | None:
    """The wait of a 429 or 503 is the same in seconds and milliseconds. A long wait has no advice to retry."""
    seconds, milliseconds = (exchange.headers.get(name) for name in ("retry-after", "retry-after-ms"))
    if exchange.status not in (429, 503):
        return f"{exchange.status} has Retry-After" if seconds is not None else None
    if seconds is None or milliseconds is None:
        return "Retry-After or retry-after-ms is missing"
    if int(seconds) != max(1, math.ceil(int(milliseconds) / 1000)):
        return f"Retry-After is {seconds} and retry-after-ms {milliseconds}"
    is_hopeless = exchange.headers.get("x-should-retry") == "false"
    if int(milliseconds) > limits["noRetryAboveSeconds"] * 1000 and not is_hopeless:
        return f"a wait of {milliseconds} ms without x-should-retry: false"
    return None


def ignored_params(exchange: Exchange) -> str | None:
    """`x-ignored-params` names exactly the members without effect."""
    if not (exchange.is_chat and exchange.is_taken):
        return (
            "x-ignored-params on another answer"
            if "x-ignored-params" in exchange.headers and not exchange.is_chat
            else None
        )
    found = exchange.headers.get("x-ignored-params")
    if is_right_header(found, exchange.asked):
        return None
    return f"x-ignored-params is {found!r}, and should name {ignored_names(exchange.asked)!r}"
