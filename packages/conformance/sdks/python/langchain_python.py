import json

from adapter import Answer, Task, describe, pause, repeat, serve
from langchain_openai import ChatOpenAI


def read_message(message) -> Answer:
    usage = message.usage_metadata
    return {
        "text": message.text if isinstance(message.text, str) else message.text(),
        "finishReason": message.response_metadata.get("finish_reason"),
        "toolCalls": [
            {"id": call["id"], "name": call["name"], "arguments": json.dumps(call["args"])}
            for call in message.tool_calls
        ],
        "usage": usage and {"promptTokens": usage["input_tokens"], "completionTokens": usage["output_tokens"]},
    }


def carry_out(task: Task) -> Answer:
    if "n" in task:
        return {"unsupported": "invoke and stream give one choice"}
    chat = ChatOpenAI(
        model=task["model"],
        base_url=task["baseUrl"],
        api_key=task["apiKey"],
        max_retries=task["maxRetries"],
        timeout=task["timeoutMs"] / 1000,
        stream_usage=task.get("includeUsage", False),
    )
    bound = chat.bind_tools(task["tools"]) if "tools" in task else chat

    def call() -> Answer:
        whole = None
        try:
            if task["call"] == "create":
                whole = bound.invoke(task["messages"])
            else:
                for chunk in bound.stream(task["messages"]):
                    whole = chunk if whole is None else whole + chunk
                    if pause(task):
                        return {**read_message(whole), "aborted": True}
        except Exception as error:
            return {**({} if whole is None else read_message(whole)), "error": describe(error)}
        return {"text": None} if whole is None else read_message(whole)

    return repeat(task, call)


serve(carry_out)
