"""LiteLLM as a library, with its provider for compatible services."""

import os
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

from completions import Answer, outcome_of, read_stream

litellm.suppress_debug_info = True
# A member that a model of OpenAI's own does not have is sent nevertheless.
litellm.drop_params = False


def make(base_url: str, key: str, call: dict[str, Any]) -> dict[str, Any] | None:
    given = {name: value for name, value in call["members"].items() if name != "model"}
    members: Any = {
        **given,
        "model": f"openai/{call['members']['model']}",
        "api_base": base_url,
        "api_key": key,
        "timeout": call["timeoutSeconds"],
        "allowed_openai_params": list(given),
    }
    match call["method"]:
        case "chat":
            return outcome_of(litellm.completion(**members))
        case "stream":
            return read_stream(litellm.completion(**members, stream=True))
        case "collect":
            return outcome_of(litellm.stream_chunk_builder(list(litellm.completion(**members, stream=True))))
        case "parse":
            content = litellm.completion(**{**members, "response_format": Answer}).choices[0].message.content
            return {"parsed": Answer.model_validate_json(content).model_dump()}
        case "tool loop":
            message = litellm.completion(**members).choices[0].message
            results = [{"role": "tool", "tool_call_id": one.id, "content": "Done."} for one in message.tool_calls or []]
            messages = [*members["messages"], message.model_dump(), *results]
            return outcome_of(litellm.completion(**{**members, "messages": messages, "tool_choice": "auto"}))
        case "embeddings":
            litellm.embedding(model="openai/reference/toy", input=["x"], api_base=base_url, api_key=key)
            return {}
    return None
