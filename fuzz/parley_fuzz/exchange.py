"""A request and its answer as sent over the wire, parsed once for all checks."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from schemathesis import Case, Response

from parley_fuzz.contract import CHAT


class NotJson(ValueError):
    pass


def parse_json(text: str) -> Any:
    """Parses strict JSON: refuses `NaN` and `Infinity`, which Python accepts."""

    def refuse(word: str) -> None:
        raise NotJson(word)

    try:
        return json.loads(text, parse_constant=refuse)
    except (json.JSONDecodeError, RecursionError) as error:
        raise NotJson(str(error)) from error


def without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    return value


@dataclass(frozen=True, eq=False)
class Exchange:
    method: str
    path: str
    operation: str
    sent_headers: dict[str, str]
    sent: bytes
    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    @property
    def is_chat(self) -> bool:
        return self.method == "POST" and self.path == CHAT

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_stream(self) -> bool:
        return self.media_type == "text/event-stream"

    @property
    def is_taken(self) -> bool:
        return 200 <= self.status < 300

    @cached_property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @cached_property
    def json(self) -> Any:
        return parse_json(self.text)

    @cached_property
    def sent_members(self) -> dict[str, Any]:
        """The members of the request as they were sent; empty if the body was not an object."""
        try:
            value = parse_json(self.sent.decode("utf-8-sig"))
        except (NotJson, UnicodeDecodeError):
            return {}
        return value if isinstance(value, dict) else {}

    @cached_property
    def asked(self) -> dict[str, Any]:
        """The members of the request without nulls, at any depth."""
        return without_nulls(self.sent_members)

    @cached_property
    def error(self) -> dict[str, Any]:
        """The error of a refusal; empty if it has no envelope."""
        if self.is_taken or self.media_type != "application/json" or self.method == "HEAD":
            return {}
        value = self.json
        found = value.get("error") if isinstance(value, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def key(self) -> str:
        return self.sent_headers.get("authorization", "").partition(" ")[2]


_last: tuple[Response, Exchange] | None = None


def exchange_of(case: Case, response: Response) -> Exchange:
    """Parses an answer once for all checks."""
    global _last
    if _last is None or _last[0] is not response:
        _last = (response, _read(case, response))
    return _last[1]


def _read(case: Case, response: Response) -> Exchange:
    request = response.request
    return Exchange(
        method=request.method or "",
        path=(request.path_url or "").partition("?")[0],
        operation=case.operation.definition.raw.get("operationId", case.operation.label),
        sent_headers={name.lower(): _text(value) for name, value in request.headers.items()},
        sent=_bytes(request.body or b""),
        status=response.status_code,
        headers={name.lower(): ", ".join(values) for name, values in response.headers.items()},
        body=response.content or b"",
        seconds=response.elapsed,
    )


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _bytes(body: object) -> bytes:
    """Raises TypeError for a body that is sent in parts: it is no longer available when the answer comes."""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes):
        return body
    raise TypeError(f"the body of the request is a {type(body).__name__}, and not text or bytes")
