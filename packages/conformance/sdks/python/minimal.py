import json
import sys

from openai import APIStatusError, OpenAI


def carry_out(task):
    client = OpenAI(
        base_url=task["baseUrl"],
        api_key=task["apiKey"],
        max_retries=task["maxRetries"],
        timeout=task["timeoutMs"] / 1000,
    )
    request = {"model": task["model"], "messages": task["messages"]}
    answer = {"text": ""}
    try:
        if task["call"] == "create":
            choice = client.chat.completions.create(**request).choices[0]
            return {"text": choice.message.content, "finishReason": choice.finish_reason}
        for chunk in client.chat.completions.create(**request, stream=True):
            for choice in chunk.choices:
                answer["text"] += choice.delta.content or ""
                answer["finishReason"] = choice.finish_reason
    except Exception as error:
        status = error.status_code if isinstance(error, APIStatusError) else None
        answer["error"] = {"class": type(error).__name__, "message": str(error), "status": status}
    return answer


for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps({"task": task["task"], **carry_out(task)}), flush=True)
