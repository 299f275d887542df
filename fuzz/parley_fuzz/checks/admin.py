"""Checks of the admin API: rights, refused requests that change nothing, the audit log, and secrets."""

import http.client
import json
import os
import re
from typing import Any
from urllib.parse import urlsplit

from parley_fuzz.contract import document
from parley_fuzz.exchange import Exchange, parse_json
from parley_fuzz.run_config import ADMIN, KEY
from parley_fuzz.schema_validators import fault_of

SECRET = re.compile(r"parley_(?:admin_)?[0-9a-f]{12}\.[\w-]{43}")
SHOWS_SECRET = ("createKey", "rotateKey", "createAdminKey")
VOLATILE = ("last_used", "former_secret_until", "resets_at", "state")
"""Members that change with time. `disabled` and `expires` say the rest of `state`."""
_connection = http.client.HTTPConnection(urlsplit(os.environ["PARLEY_URL"]).netloc)
_scopes = {
    one["operationId"]: one.get("x-scope") for operations in document["paths"].values() for one in operations.values()
}


def who_may(exchange: Exchange) -> str | None:
    """A request without a valid admin key gets 401, one without the scope no success, and the owner of a group sees only that group."""
    key = exchange.key
    if key not in (KEY, ADMIN["owner"], *ADMIN["lacking"].values()):
        return None if exchange.status == 401 else f"a request without an admin key got {exchange.status}"
    if exchange.status == 401:
        return "a valid admin key was refused"
    if not exchange.is_taken:
        return None
    if ADMIN["lacking"].get(_scopes[exchange.operation]) == key:
        return f"a key without the scope {_scopes[exchange.operation]} got {exchange.status}"
    if key == ADMIN["owner"] and exchange.media_type == "application/json":
        own = ADMIN["ownedGroup"]
        within = {own, *(one["id"] for one in _before["groups"] if one["parent_id"] == own)}
        outside = [one for one in _groups_in(exchange.json) if one not in within]
        return f"the owner of a group sees the group {outside[0]}" if outside else None
    return None


def _groups_in(value: Any) -> list[Any]:
    """Lists the groups of all keys, admin keys and groups in an answer, at any depth."""
    if isinstance(value, list):
        return [one for item in value for one in _groups_in(item)]
    if not isinstance(value, dict):
        return []
    own = [value.get("group_id", value["id"])] if "state" in value and "id" in value else []
    return own + [one for item in value.values() for one in _groups_in(item)]


def changes(exchange: Exchange) -> str | None:
    """A refused request changes nothing, and an accepted change is one entry of the audit log."""
    global _before
    if exchange.method in ("GET", "HEAD", "OPTIONS"):
        return None
    before, _before = _before, read_state()
    if not exchange.is_taken:
        return None if _before == before else f"the refused request changed {_first_change(before, _before)}"
    last = _before["done"]
    is_recorded = last["id"] != before["done"]["id"] and last["action"] == exchange.operation
    return None if is_recorded else f"the last entry of the audit log is {last['action']}"


def read_state() -> dict[str, Any]:
    """Reads all keys, groups and admin keys, and the last change of the audit log."""
    _connection.close()  # opens another one: the server may have closed it while it was idle
    things = {name: _list(name) for name in ("keys", "groups", "admin-keys")}
    [done] = _get("audit?outcome=done&limit=1")["data"]
    return {**things, "done": done}


def empty_group(without: set[str]) -> str | None:
    """The id of a group that can be deleted: nothing is in it, and it is not one of these."""
    things = [thing for name in ("keys", "groups", "admin-keys") for thing in _before[name]]
    used = without.union(*({thing.get("group_id"), thing.get("parent_id")} for thing in things))
    return next((group["id"] for group in _before["groups"] if group["id"] not in used), None)


def _list(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    query = "limit=1000"
    while True:
        page = _get(f"{name}?{query}")
        found += [{member: one[member] for member in one if member not in VOLATILE} for one in page["data"]]
        if page["next"] is None:
            return found
        query = f"limit=1000&after={page['next']}"


def _get(path: str) -> Any:
    _connection.request("GET", f"/admin/v1/{path}", headers={"Authorization": f"Bearer {KEY}"})
    return json.loads(_connection.getresponse().read())


def _first_change(before: dict[str, Any], after: dict[str, Any]) -> str:
    name = next(one for one in before if before[one] != after[one])
    return f"{name}: {[one for one in after[name] if one not in before[name]] if name != 'done' else after[name]}"


def export_lines(exchange: Exchange) -> str | None:
    """Each line of an export is an entry of the audit log."""
    if exchange.media_type != "application/x-ndjson":
        return None
    faults = (fault_of("AuditEntry", parse_json(line)) for line in exchange.text.splitlines())
    return next((fault for fault in faults if fault is not None), None)


def no_secret(exchange: Exchange) -> str | None:
    """Only the answer to the creation or rotation of a key shows its secret."""
    found = SECRET.search(exchange.text)
    return f"{exchange.operation} shows a secret" if found and exchange.operation not in SHOWS_SECRET else None


_before = read_state()
