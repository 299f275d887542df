"""Usage: main.py models | main.py answer PROMPT | main.py error | main.py stream PROMPT"""

import os
import sys
from collections.abc import Iterator

import httpx
from httpx_sse import connect_sse
from parley import (
    ApiClient,
    ApiException,
    ChatApi,
    ChatCompletionChunk,
    ChatCompletionRequest,
    ChatMessage,
    Configuration,
    ErrorResponse,
    FunctionDefinition,
    JsonSchemaFormat,
    MessageContent,
    ModelsApi,
    ResponseFormat,
    ResponseFormatJsonSchema,
    StreamError,
    StreamEvent,
    Tool,
    UserMessage,
)

MODEL = "vendor/model-1"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}

configuration = Configuration(host=os.environ["PARLEY_URL"], access_token=os.environ["PARLEY_KEY"])
client = ApiClient(configuration)


def user(prompt: str) -> ChatMessage:
    return ChatMessage(UserMessage(role="user", content=MessageContent(prompt)))


def print_models() -> None:
    for model in ModelsApi(client).list_models().data:
        print(model.id)


def answer(prompt: str) -> None:
    tool = Tool(type="function", function=FunctionDefinition(name="get_weather", parameters=CITY))
    schema = JsonSchemaFormat(name="city", schema=CITY)
    form = ResponseFormat(ResponseFormatJsonSchema(type="json_schema", json_schema=schema))
    request = ChatCompletionRequest(model=MODEL, messages=[user(prompt)], tools=[tool], response_format=form)
    for choice in ChatApi(client).create_chat_completion(request).choices:
        print(choice.finish_reason, choice.message.content)
        for call in choice.message.tool_calls or []:
            print(call.function.name, call.function.arguments)


def error() -> None:
    request = ChatCompletionRequest(model="vendor/none", messages=[user("Hello")])
    try:
        ChatApi(client).create_chat_completion(request)
    except ApiException as failure:
        if isinstance(failure.data, ErrorResponse) and failure.data.error.code:
            print(failure.status, failure.data.error.type, failure.data.error.code)


def read_chunks(prompt: str) -> Iterator[ChatCompletionChunk]:
    """Ends normally only after `[DONE]`. httpx sends the request, for its reader of server-sent events."""
    request = ChatCompletionRequest(model=MODEL, messages=[user(prompt)], stream=True)
    headers = {"authorization": f"Bearer {configuration.access_token}", "content-type": "application/json"}
    url = f"{configuration.host}/v1/chat/completions"
    with (
        httpx.Client(headers=headers, timeout=60) as http,
        connect_sse(http, "POST", url, content=request.to_json()) as source,
    ):
        source.response.raise_for_status()
        for event in source.iter_sse():
            if event.data == "[DONE]":
                return
            data = StreamEvent.from_json(event.data).actual_instance
            if isinstance(data, StreamError):
                raise RuntimeError(f"stream error: {data.error.code}")
            if data:
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
                print_models()
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
