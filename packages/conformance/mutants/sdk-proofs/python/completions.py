"""Reads answers of the shape that OpenAI's SDK and LiteLLM give."""

import json
import math
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel

from driver import thrown


class Answer(BaseModel):
    """The type of the calls that parse."""

    kind: Literal["sun", "moon"]


def arguments_of(text: str | None) -> Any:
    try:
        return json.loads(text or "")
    except ValueError:
        return text


def scores_of(entries: Iterable[Any]) -> dict[str, Any]:
    entries = list(entries)
    data = bytes(byte for entry in entries for byte in entry.bytes or [])
    return {
        "tokens": "".join(entry.token for entry in entries),
        "bytes": data.decode(errors="replace"),
        "probabilities": [round(math.exp(entry.logprob), 3) for entry in entries],
        "alternatives": ["|".join(one.token for one in entry.top_logprobs or []) for entry in entries],
    }


def usage_of(usage: Any) -> list[int] | None:
    return usage and [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens]


def outcome_of(completion: Any) -> dict[str, Any]:
    return {
        "choices": [choice_of(choice) for choice in completion.choices],
        "usage": usage_of(getattr(completion, "usage", None)),
    }


def choice_of(choice: Any) -> dict[str, Any]:
    calls = choice.message.tool_calls or []
    logprobs = getattr(choice, "logprobs", None)
    content = getattr(logprobs, "content", None)
    return {
        "text": choice.message.content,
        "finish": choice.finish_reason,
        "calls": [[call.function.name, arguments_of(call.function.arguments)] for call in calls],
        **({"logprobs": scores_of(content)} if content else {}),
    }


def read_stream(stream: Iterable[Any]) -> dict[str, Any]:
    """Joins the events as the SDKs' guides do."""
    texts: dict[int, str] = {}
    finishes: dict[int, str] = {}
    calls: dict[int, dict[int, list[str]]] = {}
    usage = None

    def outcome() -> dict[str, Any]:
        return {
            "choices": [
                {
                    "text": text,
                    "finish": finishes.get(index),
                    "calls": [[name, arguments_of(given)] for name, given in calls.get(index, {}).values()],
                }
                for index, text in texts.items()
            ],
            "usage": usage_of(usage),
        }

    try:
        for chunk in stream:
            usage = getattr(chunk, "usage", None) or usage
            for choice in chunk.choices:
                texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
                if choice.finish_reason:
                    finishes[choice.index] = choice.finish_reason
                for piece in choice.delta.tool_calls or []:
                    known = calls.setdefault(choice.index, {}).setdefault(piece.index, ["", ""])
                    known[0] += piece.function.name or ""
                    known[1] += piece.function.arguments or ""
    except Exception as error:
        return {**outcome(), **thrown(error)}
    return outcome()
