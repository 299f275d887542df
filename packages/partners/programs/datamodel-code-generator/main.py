"""Usage: main.py models | main.py answer PROMPT | main.py error | main.py stream PROMPT"""

import os
import sys
from collections.abc import Iterator

import httpx
from httpx_sse import connect_sse
from models import (
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionRequest,
    ErrorResponse,
    ModelList,
    StreamError,
    StreamEvent,
)

MODEL = "vendor/model-1"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}

client = httpx.Client(
    base_url=os.environ["PARLEY_URL"],
    headers={"authorization": f"Bearer {os.environ['PARLEY_KEY']}", "content-type": "application/json"},
    timeout=60,
)


def body(prompt: str, model: str = MODEL, **fields: object) -> str:
    """A request, validated before it is sent."""
    messages = [{"role": "user", "content": prompt}]
    request = ChatCompletionRequest.model_validate({"model": model, "messages": messages, **fields})
    return request.model_dump_json(by_alias=True, exclude_unset=True)


def refusal(response: httpx.Response) -> str:
    error = ErrorResponse.model_validate_json(response.read()).error
    return f"{response.status_code} {error.type} {error.code}"


def list_models() -> None:
    response = client.get("/v1/models")
    if response.is_error:
        sys.exit(refusal(response))
    for model in ModelList.model_validate_json(response.content).data:
        print(model.id)


def answer(prompt: str) -> None:
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": CITY}}
    form = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}}
    response = client.post("/v1/chat/completions", content=body(prompt, tools=[tool], response_format=form))
    if response.is_error:
        sys.exit(refusal(response))
    for choice in ChatCompletion.model_validate_json(response.content).choices:
        print(choice.finish_reason, choice.message.content)
        for call in choice.message.tool_calls or []:
            print(call.function.name, call.function.arguments)


def error() -> None:
    print(refusal(client.post("/v1/chat/completions", content=body("Hello", model="vendor/none"))))


def read_chunks(prompt: str) -> Iterator[ChatCompletionChunk]:
    """Ends normally only after `[DONE]`."""
    with connect_sse(client, "POST", "/v1/chat/completions", content=body(prompt, stream=True)) as source:
        if source.response.is_error:
            raise RuntimeError(refusal(source.response))
        for event in source.iter_sse():
            if event.data == "[DONE]":
                return
            data = StreamEvent.model_validate_json(event.data).root
            if isinstance(data, StreamError):
                raise RuntimeError(f"stream error: {data.error.code}")
            yield data
    raise RuntimeError("truncated: the stream ended without [DONE]")


def stream(prompt: str) -> None:
    for chunk in read_chunks(prompt):
        for choice in chunk.choices:
            if choice.delta.content:
                print(choice.delta.content)
            if choice.finish_reason:
                print(choice.finish_reason)


def main(word: str, prompt: str = "") -> None:
    try:
        match word:
            case "models":
                list_models()
            case "answer":
                answer(prompt)
            case "error":
                error()
            case "stream":
                stream(prompt)
    except RuntimeError as problem:
        print(problem)
        sys.exit(1)


main(*sys.argv[1:])
