"""Writes a line per answer with the facts for the depth meter, without key and body."""

import json
import os
from typing import Any

from schemathesis.core.failures import Failure

from parley_fuzz.contract import place_at_fault, places_in
from parley_fuzz.exchange import Exchange
from parley_fuzz.run_config import RECORD

MOST_BYTES = 4000
_file = os.open(RECORD, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


def record(exchange: Exchange) -> None:
    line: dict[str, Any] = {
        "operation": exchange.operation,
        "status": exchange.status,
        "ms": round(exchange.seconds * 1000),
    }
    if exchange.is_chat and exchange.is_taken:
        line["isStream"] = exchange.is_stream
        line["taken"] = sorted(set(places_in(exchange.sent_members)))
    if exchange.is_chat and exchange.status == 400:
        line["refused"] = place_at_fault(exchange.error.get("param") or "")
    _write(line)


def record_failure(exchange: Exchange, failure: Failure) -> None:
    """Records a failure with the request that caused it, so that it can be sent again."""
    sent = exchange.sent[:MOST_BYTES].decode("utf-8", "backslashreplace")
    headers = {name: value for name, value in exchange.sent_headers.items() if name != "authorization"}
    request = {"method": exchange.method, "path": exchange.path, "headers": headers, "body": sent}
    fault = {"check": failure.title, "message": failure.message[:2000]}
    _write({"operation": exchange.operation, "status": exchange.status, "failure": fault, "request": request})


def _write(line: dict[str, Any]) -> None:
    # A single write: lines of two processes never mix, and a killed run loses no line.
    os.write(_file, (json.dumps(line) + "\n").encode())
