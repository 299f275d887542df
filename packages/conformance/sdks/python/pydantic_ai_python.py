import asyncio

from adapter import Answer, Task, describe, serve
from openai import AsyncOpenAI
from pydantic_ai import ToolDefinition
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


def to_message(message: dict[str, str]):
    content = message["content"]
    if message["role"] == "assistant":
        return ModelResponse(parts=[TextPart(content)])
    return ModelRequest(parts=[SystemPromptPart(content) if message["role"] == "system" else UserPromptPart(content)])


def read_response(response: ModelResponse) -> Answer:
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    details = response.provider_details or {}
    return {
        "text": "".join(part.content for part in response.parts if isinstance(part, TextPart)),
        "finishReason": details.get("finish_reason") or response.finish_reason,
        "toolCalls": [{"id": c.tool_call_id, "name": c.tool_name, "arguments": c.args_as_json_str()} for c in calls],
        "usage": {"promptTokens": response.usage.input_tokens, "completionTokens": response.usage.output_tokens},
    }


def find_details(error: BaseException) -> Answer:
    """`ModelHTTPError` has the status and the body; the error of OpenAI's SDK is its cause."""
    body = getattr(error, "body", None)
    known = body if isinstance(body, dict) else {}
    found = {**describe(error), **{name: known[name] for name in ("code", "param") if name in known}}
    return {**found, "message": str(error), "requestId": getattr(error, "request_id", None)}


async def call_once(model: OpenAIChatModel, task: Task) -> Answer:
    tools = [
        ToolDefinition(name=f["name"], description=f["description"], parameters_json_schema=f["parameters"])
        for f in (tool["function"] for tool in task.get("tools", []))
    ]
    messages = [to_message(message) for message in task["messages"]]
    parameters = ModelRequestParameters(function_tools=tools, allow_text_output=True)
    stream = None
    try:
        if task["call"] == "create":
            return read_response(await model_request(model, messages, model_request_parameters=parameters))
        async with model_request_stream(model, messages, model_request_parameters=parameters) as stream:
            async for _event in stream:
                await asyncio.sleep(task.get("pauseAfterFirstChunkMs", 0) / 1000)
                if task.get("abortAfterFirstChunk"):
                    return {**read_response(stream.get()), "aborted": True}
        return read_response(stream.get())
    except Exception as error:
        return {**({} if stream is None else read_response(stream.get())), "error": find_details(error)}


async def call_all(task: Task) -> Answer:
    client = AsyncOpenAI(
        base_url=task["baseUrl"],
        api_key=task["apiKey"],
        max_retries=task["maxRetries"],
        timeout=task["timeoutMs"] / 1000,
    )
    model = OpenAIChatModel(task["model"], provider=OpenAIProvider(openai_client=client))
    answer = await call_once(model, task)
    if "secondCallAfterMs" in task:
        await asyncio.sleep(task["secondCallAfterMs"] / 1000)
        answer = await call_once(model, task)
    return answer


def carry_out(task: Task) -> Answer:
    if "n" in task:
        return {"unsupported": "a response has one choice"}
    return asyncio.run(call_all(task))


serve(carry_out)
