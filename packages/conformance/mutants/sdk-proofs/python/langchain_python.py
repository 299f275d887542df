"""LangChain's integration for Python."""

from types import SimpleNamespace
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import convert_to_messages
from langchain_openai import ChatOpenAI

from completions import Answer, arguments_of, scores_of
from driver import thrown

# It sets these itself.
OWN = {"model", "messages", "n", "temperature", "stream_options", "logprobs"}


def make(base_url: str, key: str, call: dict[str, Any]) -> dict[str, Any] | None:
    members = call["members"]
    others = {name: value for name, value in members.items() if name not in OWN}
    model = ChatOpenAI(
        model=members["model"],
        base_url=base_url,
        api_key=key,  # pyright: ignore[reportArgumentType]
        timeout=call["timeoutSeconds"],
        use_responses_api=False,
        stream_usage="stream_options" in members,
        **{name: members[name] for name in ("n", "logprobs") if name in members},
    )
    messages = members["messages"]
    temperature = {"temperature": members["temperature"]}
    match call["method"]:
        case "chat":
            answers = [
                one.message
                for one in model.generate([convert_to_messages(messages)], **others, **temperature).generations[0]
            ]
            return {"choices": [choice_of(one) for one in answers], "usage": usage_of(answers[0])}
        case "stream":
            return read_stream(model.stream(messages, **others, **temperature))
        case "parse":
            del others["max_completion_tokens"]
            structured = model.with_structured_output(Answer, method="json_schema", strict=True)
            parsed = structured.invoke(messages, max_completion_tokens=members["max_completion_tokens"])
            return {"parsed": parsed and parsed.model_dump()}
        case "tool loop":
            first = model.invoke(messages, **others, **temperature)
            results = [ToolMessage("Done.", tool_call_id=one["id"]) for one in first.tool_calls]
            again = {**others, "tool_choice": "auto"}
            last = model.invoke([HumanMessage("Paint it."), first, *results], **again, **temperature)
            return {"choices": [choice_of(last)], "usage": usage_of(last)}
    return None


def usage_of(message: AIMessage) -> list[int] | None:
    usage = message.usage_metadata
    return usage and [usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]]


def choice_of(message: AIMessage) -> dict[str, Any]:
    logprobs = (message.response_metadata.get("logprobs") or {}).get("content")
    return {
        "text": message.text if isinstance(message.text, str) else message.text(),
        "finish": message.response_metadata.get("finish_reason"),
        "calls": [
            *[[call["name"], call["args"]] for call in message.tool_calls],
            *[[f"invalid: {call['name']}", arguments_of(call["args"])] for call in message.invalid_tool_calls],
        ],
        **({"logprobs": scores_of([entry_of(one) for one in logprobs])} if logprobs else {}),
    }


def entry_of(entry: dict[str, Any]) -> SimpleNamespace:
    top = [SimpleNamespace(**one) for one in entry["top_logprobs"]]
    return SimpleNamespace(token=entry["token"], logprob=entry["logprob"], bytes=entry["bytes"], top_logprobs=top)


def read_stream(stream: Any) -> dict[str, Any]:
    whole: Any = None

    def outcome() -> dict[str, Any]:
        return {"choices": [choice_of(whole)] if whole else [], "usage": whole and usage_of(whole)}

    try:
        for chunk in stream:
            whole = chunk if whole is None else whole + chunk
    except Exception as error:
        return {**outcome(), **thrown(error)}
    return outcome()
