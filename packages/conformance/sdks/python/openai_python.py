from adapter import Answer, Collected, Task, describe, pause, read_completion, repeat, serve
from openai import OpenAI


def carry_out(task: Task) -> Answer:
    client = OpenAI(
        base_url=task["baseUrl"],
        api_key=task["apiKey"],
        max_retries=task["maxRetries"],
        timeout=task["timeoutMs"] / 1000,
    )
    request = {name: task[name] for name in ("model", "messages", "tools", "n") if name in task}
    if task.get("includeUsage"):
        request["stream_options"] = {"include_usage": True}

    def call() -> Answer:
        collected = Collected()
        try:
            if task["call"] == "create":
                completion = client.chat.completions.create(**request)
            else:
                with client.chat.completions.create(**request, stream=True) as stream:
                    for chunk in stream:
                        collected.add(chunk)
                        if pause(task):
                            collected.more["aborted"] = True
                            break
                return collected.answer()
        except Exception as error:
            return {**collected.answer(), "error": describe(error)}
        return read_completion(completion)

    return repeat(task, call)


serve(carry_out)
