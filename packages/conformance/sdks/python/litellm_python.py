import litellm
from adapter import Answer, Collected, Task, describe, pause, read_completion, repeat, serve

litellm.suppress_debug_info = True


def carry_out(task: Task) -> Answer:
    request = {name: task[name] for name in ("messages", "tools", "n") if name in task}
    if task.get("includeUsage"):
        request["stream_options"] = {"include_usage": True}

    def call() -> Answer:
        collected = Collected()
        try:
            answer = litellm.completion(
                **request,
                model=f"openai/{task['model']}",
                api_base=task["baseUrl"],
                api_key=task["apiKey"],
                max_retries=task["maxRetries"],
                timeout=task["timeoutMs"] / 1000,
                stream=task["call"] == "stream",
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
            return {**collected.answer(), "error": describe(error)}
        return read_completion(answer)

    return repeat(task, call)


serve(carry_out)
