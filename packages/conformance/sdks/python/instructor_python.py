"""Instructor with `response_model=None` gives the completion itself; streams are those of the client that it wraps."""

import instructor
from adapter import Answer, Collected, Task, describe, pause, read_completion, repeat, serve
from openai import OpenAI


def carry_out(task: Task) -> Answer:
    client = instructor.from_openai(
        OpenAI(
            base_url=task["baseUrl"],
            api_key=task["apiKey"],
            max_retries=task["maxRetries"],
            timeout=task["timeoutMs"] / 1000,
        ),
        mode=instructor.Mode.TOOLS,
    )
    request = {name: task[name] for name in ("model", "messages", "tools", "n") if name in task}
    if task.get("includeUsage"):
        request["stream_options"] = {"include_usage": True}

    def call() -> Answer:
        collected = Collected()
        try:
            answer = client.chat.completions.create(
                **request, response_model=None, max_retries=1, stream=task["call"] == "stream"
            )
            if task["call"] == "stream":
                with answer as stream:
                    for chunk in stream:
                        collected.add(chunk)
                        if pause(task):
                            collected.more["aborted"] = True
                            break
                return collected.answer()
        except Exception as error:
            cause = getattr(error, "__cause__", None) or error
            return {**collected.answer(), "error": describe(error if hasattr(error, "status_code") else cause)}
        return read_completion(answer)

    return repeat(task, call)


serve(carry_out)
