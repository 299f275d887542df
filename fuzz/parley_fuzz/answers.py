"""One form for streamed and plain answers."""

from dataclasses import dataclass, field
from typing import Any

from parley_fuzz.exchange import Exchange
from parley_fuzz.stream_machine import run_stream


@dataclass
class Choice:
    content: str | None = None
    reasoning: str | None = None
    calls: list[dict[str, str]] = field(default_factory=list)
    logprobs: list[dict[str, Any]] | None = None
    finish: str = ""


@dataclass
class Answer:
    """`usage` is None if a stream was not asked for it; `is_whole` is false if the stream ended with an error."""

    head: dict[str, Any]
    choices: dict[int, Choice]
    usage: dict[str, Any] | None
    is_whole: bool = True


def answer_of(exchange: Exchange) -> Answer:
    return _from_stream(exchange) if exchange.is_stream else _from_completion(exchange.json)


def _from_completion(value: dict[str, Any]) -> Answer:
    choices = {}
    for one in value["choices"]:
        message = one["message"]
        calls = [{"id": call["id"], **call["function"]} for call in message.get("tool_calls", [])]
        logprobs = one["logprobs"] and one["logprobs"]["content"]
        choices[one["index"]] = Choice(
            message["content"], message.get("reasoning"), calls, logprobs, one["finish_reason"]
        )
    return Answer(value, choices, value["usage"])


def _from_stream(exchange: Exchange) -> Answer:
    run = run_stream(exchange.text, exchange.asked)
    answer = Answer({}, {}, None, run.end == "done")
    for event in run.events:
        if not isinstance(event, dict) or "error" in event:
            continue
        answer.head = event
        answer.usage = event.get("usage") or answer.usage
        for piece in event["choices"]:
            _add(answer.choices.setdefault(piece["index"], Choice()), piece)
    return answer


def _add(choice: Choice, piece: dict[str, Any]) -> None:
    delta = piece["delta"]
    if "content" in delta:
        choice.content = (choice.content or "") + delta["content"]
    if "reasoning" in delta:
        choice.reasoning = (choice.reasoning or "") + delta["reasoning"]
    for call in delta.get("tool_calls", []):
        if "id" in call:
            choice.calls.append({"id": call["id"], "name": call["function"]["name"], "arguments": ""})
        choice.calls[call["index"]]["arguments"] += call["function"]["arguments"]
    if piece["logprobs"] is not None:
        choice.logprobs = (choice.logprobs or []) + piece["logprobs"]["content"]
    choice.finish = piece["finish_reason"] or choice.finish
