"""OpenAI's SDK for Python. Only its base URL, its key and its time limit are set."""

from typing import Any

from openai import OpenAI

from completions import Answer, outcome_of, read_stream


def make(base_url: str, key: str, call: dict[str, Any]) -> dict[str, Any] | None:
    client = OpenAI(base_url=base_url, api_key=key, timeout=call["timeoutSeconds"])
    members: Any = call["members"]
    completions = client.chat.completions
    match call["method"]:
        case "list models":
            return {"models": [model.id for model in client.models.list().data]}
        case "retrieve a model":
            return {"models": [client.models.retrieve(call["id"]).id]}
        case "chat":
            return outcome_of(create(completions, members))
        case "stream":
            return read_stream(create(completions, {**members, "stream": True}))
        case "collect":
            with completions.stream(**members) as stream:
                return outcome_of(stream.get_final_completion())
        case "parse":
            parsed = completions.parse(**{**members, "response_format": Answer}).choices[0].message.parsed
            return {"parsed": parsed and parsed.model_dump()}
        case "tool loop":
            message = create(completions, members).choices[0].message
            results = [{"role": "tool", "tool_call_id": one.id, "content": "Done."} for one in message.tool_calls or []]
            messages = [*members["messages"], message.model_dump(), *results]
            return outcome_of(create(completions, {**members, "messages": messages, "tool_choice": "auto"}))
        case "leave":
            with create(completions, {**members, "stream": True}) as stream:
                for chunk in stream:
                    if chunk.choices[0].delta.content:
                        break
            return outcome_of(create(completions, {**members, "messages": [{"role": "user", "content": "On."}]}))
        case "embeddings":
            client.embeddings.create(model="reference/toy", input="x")
            return {}
    return None


def create(completions: Any, members: dict[str, Any]) -> Any:
    return completions.create(**members)
