"""The lines of an adapter: reads a task per line, carries it out, and prints its answer as a line."""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

Task = dict[str, Any]
Answer = dict[str, Any]


def serve(carry_out: Callable[[Task], Answer]) -> None:
    for line in sys.stdin:
        task = json.loads(line)
        print(json.dumps({"task": task["task"], **carry_out(task)}), flush=True)


def repeat(task: Task, call: Callable[[], Answer]) -> Answer:
    """Makes the call once, or twice with a pause, as the task says."""
    answer = call()
    if "secondCallAfterMs" in task:
        time.sleep(task["secondCallAfterMs"] / 1000)
        answer = call()
    return answer


def pause(task: Task) -> bool:
    """Pauses after a chunk if the task wants it. True: the adapter has to leave the stream."""
    time.sleep(task.get("pauseAfterFirstChunkMs", 0) / 1000)
    return task.get("abortAfterFirstChunk", False)


def describe(error: BaseException) -> Answer:
    """Reads the fields that the errors of OpenAI's SDK have, and of those built on it."""
    status, code, param = (getattr(error, name, None) for name in ("status_code", "code", "param"))
    return {
        "class": type(error).__name__,
        "message": str(error),
        "status": status if isinstance(status, int) else None,
        "code": None if code is None else str(code),
        "param": param,
        "requestId": getattr(error, "request_id", None),
    }


class Collected:
    """Collects chunks in the form of OpenAI's SDK, as the caller of a stream sees them."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}
        self.calls: dict[int, Answer] = {}
        self.more: Answer = {}

    def add(self, chunk: Any) -> None:
        if getattr(chunk, "usage", None):
            self.more["usage"] = read_usage(chunk.usage)
        for choice in chunk.choices:
            self.texts[choice.index] = self.texts.get(choice.index, "") + (choice.delta.content or "")
            for call in choice.delta.tool_calls or []:
                begun = self.calls.setdefault(call.index, {"id": call.id, "name": call.function.name, "arguments": ""})
                begun["arguments"] += call.function.arguments or ""
            if choice.index == 0 and choice.finish_reason:
                self.more["finishReason"] = choice.finish_reason

    def answer(self) -> Answer:
        texts = [self.texts[index] for index in sorted(self.texts)]
        calls = [self.calls[index] for index in sorted(self.calls)]
        return {"text": self.texts.get(0), "texts": texts, "toolCalls": calls, **self.more}


def read_usage(usage: Any) -> Answer:
    return {"promptTokens": usage.prompt_tokens, "completionTokens": usage.completion_tokens}


def read_completion(completion: Any) -> Answer:
    """Reads an answer in the form of OpenAI's SDK."""
    choice = completion.choices[0] if getattr(completion, "choices", None) else None
    if choice is None:
        return {"text": None}
    unknown = getattr(completion, "model_extra", None) or {}
    calls = choice.message.tool_calls or []
    return {
        "text": choice.message.content,
        "finishReason": choice.finish_reason,
        "toolCalls": [{"id": c.id, "name": c.function.name, "arguments": c.function.arguments} for c in calls],
        "usage": read_usage(completion.usage) if completion.usage else None,
        "unknownMembers": {name: unknown.get(name) for name in ("x_text", "x_number")},
    }
