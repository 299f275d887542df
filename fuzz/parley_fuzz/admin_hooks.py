"""The hooks of Schemathesis for the admin API: who sends each request, links between calls, and our own checks."""

import re
from collections import Counter
from decimal import Decimal
from typing import Any

import schemathesis
from schemathesis import Case, HookContext

from parley_fuzz.checks import admin, errors
from parley_fuzz.register import register
from parley_fuzz.run_config import ADMIN, KEY, MODEL_IDS
from parley_fuzz.schema_validators import close

NOBODY = (None, "nothing", *ADMIN["refused"])
UNKNOWN_ID = "0123456789ab"
ZONES = ["Europe/Berlin", "Asia/Kathmandu", "UTC", None]
CREATED = {"keys": "/key/id", "groups": "/id", "admin-keys": "/admin_key/id"}
"""The place of the new id in the answer to a creation, by the collection."""
TOKENS = (KEY, ADMIN["owner"], *ADMIN["lacking"].values(), *ADMIN["refused"])
OWN_IDS = {ADMIN["ownedGroup"], *(token.partition(".")[0].rpartition("_")[2] for token in TOKENS)}
"""The keys and the group of this run, which must stay as they are. Schemathesis takes ids from listings."""
BLANKS = re.compile(r"^[\s\ufeff]+|[\s\ufeff]+$")
UNNAMED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
"""Characters that no name may have."""
_calls = Counter[str]()


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    schemas = raw_schema["components"]["schemas"]
    for name, schema in schemas.items():
        schemas[name] = close(schema)
    for name in ("KeyCreate", "KeyUpdate", "KeyCeilingRules"):
        schemas[name]["properties"]["models"]["items"]["enum"] = MODEL_IDS
    for name in ("GroupCreate", "GroupUpdate"):
        schemas[name]["properties"]["time_zone"]["enum"] = ZONES
    for collection, place in CREATED.items():
        link(raw_schema["paths"], f"/admin/v1/{collection}", place)


def link(paths: dict[str, Any], collection: str, place: str) -> None:
    """Lets each operation on one thing follow its creation, so its id exists."""
    targets = [
        operation["operationId"]
        for path, operations in paths.items()
        if path.startswith(f"{collection}/{{id}}")
        for operation in operations.values()
    ]
    paths[collection]["post"]["responses"]["201"]["links"] = {
        name: {"operationId": name, "parameters": {"id": f"$response.body#{place}"}} for name in targets
    }


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    is_positive = case.meta is not None and case.meta.generation.mode.is_positive
    if is_positive:
        keep_rules(case)
    if case.path_parameters.get("id") in OWN_IDS:
        case.path_parameters["id"] = UNKNOWN_ID
    token = choose_token(case)
    name = case.operation.definition.raw["operationId"]
    if name == "deleteGroup" and is_positive and token == KEY and _calls[name] % 4 == 1:
        # Most groups that exist have something in them by then, so few calls would delete one.
        case.path_parameters["id"] = admin.empty_group(OWN_IDS) or case.path_parameters["id"]
    case.headers.pop("Authorization", None)
    if token is not None:
        case.headers["Authorization"] = f"Bearer {token}"


def choose_token(case: Case) -> str | None:
    """Chooses the sender: mostly a key with all scopes. Of the calls of each operation, some have a key that may do less."""
    operation = case.operation.definition.raw
    name, scope = operation["operationId"], operation.get("x-scope")
    count = _calls[name]
    _calls[name] += 1
    if count % 6 == 3 and scope is not None:
        return ADMIN["lacking"][scope]
    if count % 12 == 7:
        return NOBODY[count // 12 % len(NOBODY)]
    # The sequences of the stateful phase belong to one sender: the owner of a group does not see what others create.
    is_sequence = case.meta is not None and case.meta.phase.name.value == "stateful"
    return ADMIN["owner"] if count % 6 == 5 and not is_sequence else KEY


def keep_rules(case: Case) -> None:
    """Changes a valid request to keep the rules that its schema cannot express."""
    case.query.pop("after", None)
    body = case.body
    if not isinstance(body, dict):
        return
    if ("period" in body or "time_zone" in body) and None in (body.get("period"), body.get("time_zone")):
        body["period"] = body["time_zone"] = None
    if "name" in body:
        body["name"] = BLANKS.sub("", UNNAMED.sub("", str(body["name"] or ""))) or "blank"
    if body.get("expires") is not None:
        body["expires"] = "2999-12-31T23:59:59.5+05:30"
    raised = body.get("budget_raise")
    if isinstance(raised, dict):
        raised["until"] = "2999-12-31T23:59:59.5+05:30"
        if Decimal(str(raised["usd"])) == 0:
            raised["usd"] = "0.000000000000000001"
    if "before" in body:
        body["before"] = "2001-02-03T04:05:06-23:59"


for one in (errors.error_envelope, errors.no_leak, admin.who_may, admin.changes, admin.export_lines, admin.no_secret):
    register(one)
