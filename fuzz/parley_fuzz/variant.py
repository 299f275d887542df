"""The contract as the fuzzer reads it: with the ids that this server offers, and the errors that come before any operation."""

from typing import Any

from parley_fuzz.contract import edge
from parley_fuzz.run_config import MODEL_IDS


def offer_models(document: dict[str, Any]) -> None:
    """A model is any string to the contract; drawn as such, hardly a request would get past 404."""
    document["components"]["schemas"]["ChatCompletionRequest"]["properties"]["model"]["enum"] = MODEL_IDS
    document["components"]["parameters"]["ModelId"]["schema"]["enum"] = MODEL_IDS


def declare_edge(document: dict[str, Any]) -> None:
    """What may be answered before any operation is known, no operation declares."""
    envelope = {"schema": {"$ref": "#/components/schemas/ErrorResponse"}}
    operations = [one for path in document["paths"].values() for one in path.values() if isinstance(one, dict)]
    for operation in operations:
        for status, one in edge.items():
            answer = {"description": one["description"], "content": {"application/json": envelope}}
            operation["responses"].setdefault(status, answer)


def describe_events(document: dict[str, Any]) -> None:
    """Schemathesis judges whole server-sent events; the contract gives the schema of their data, for generated clients."""
    operation = document["paths"]["/v1/chat/completions"]["post"]
    stream = operation["responses"]["200"]["content"]["text/event-stream"]
    stream["schema"] = {"$ref": "#/components/schemas/ServerSentEvent"}
