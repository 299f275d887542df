"""The contract with changes for the fuzzer: this server's model ids, and the errors that come before any operation."""

from typing import Any

from parley_fuzz.contract import edge
from parley_fuzz.run_config import MODEL_IDS


def offer_models(document: dict[str, Any]) -> None:
    """Adds this server's model ids. The contract allows any string, so nearly all requests would get 404."""
    document["components"]["schemas"]["ChatCompletionRequest"]["properties"]["model"]["enum"] = MODEL_IDS
    document["components"]["parameters"]["ModelId"]["schema"]["enum"] = MODEL_IDS


def declare_edge(document: dict[str, Any]) -> None:
    """Declares the answers that may come before the operation is known, because no operation declares them."""
    envelope = {"schema": {"$ref": "#/components/schemas/ErrorResponse"}}
    operations = [one for path in document["paths"].values() for one in path.values() if isinstance(one, dict)]
    for operation in operations:
        for status, one in edge.items():
            answer = {"description": one["description"], "content": {"application/json": envelope}}
            operation["responses"].setdefault(status, answer)


def describe_events(document: dict[str, Any]) -> None:
    """Adds schemas of whole server-sent events for Schemathesis. The contract has only that of their data, for generated clients."""
    operation = document["paths"]["/v1/chat/completions"]["post"]
    stream = operation["responses"]["200"]["content"]["text/event-stream"]
    stream["schema"] = {"$ref": "#/components/schemas/ServerSentEvent"}
