"""Usage: main.py models | main.py answer PROMPT | main.py error | main.py stream PROMPT"""

import json
import os
import sys
from collections.abc import Iterator

from httpx_sse import connect_sse
from parley import AuthenticatedClient
from parley.api.chat import create_chat_completion
from parley.api.models import list_models
from parley.models import (
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionRequest,
    ErrorResponse,
    FunctionDefinition,
    FunctionDefinitionParametersType0,
    JsonSchemaFormat,
    JsonSchemaFormatSchema,
    ModelList,
    ResponseFormatJsonSchema,
    ResponseFormatJsonSchemaType,
    StreamError,
    Tool,
    ToolType,
    UserMessage,
    UserMessageRole,
)

MODEL = "vendor/model-1"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}

client = AuthenticatedClient(base_url=os.environ["PARLEY_URL"], token=os.environ["PARLEY_KEY"])


def user(prompt: str) -> UserMessage:
    return UserMessage(role=UserMessageRole.USER, content=prompt)


def print_models() -> None:
    models = list_models.sync(client=client)
    if not isinstance(models, ModelList):
        raise RuntimeError("refused")
    for model in models.data:
        print(model.id)


def answer(prompt: str) -> None:
    parameters = FunctionDefinitionParametersType0.from_dict(CITY)
    tool = Tool(type_=ToolType.FUNCTION, function=FunctionDefinition(name="get_weather", parameters=parameters))
    form = ResponseFormatJsonSchema(
        type_=ResponseFormatJsonSchemaType.JSON_SCHEMA,
        json_schema=JsonSchemaFormat(name="city", schema=JsonSchemaFormatSchema.from_dict(CITY)),
    )
    request = ChatCompletionRequest(model=MODEL, messages=[user(prompt)], tools=[tool], response_format=form)
    completion = create_chat_completion.sync(client=client, body=request)
    if not isinstance(completion, ChatCompletion):
        raise RuntimeError("refused")
    for choice in completion.choices:
        print(choice.finish_reason, choice.message.content)
        for call in choice.message.tool_calls or []:
            print(call.function.name, call.function.arguments)


def error() -> None:
    request = ChatCompletionRequest(model="vendor/none", messages=[user("Hello")])
    response = create_chat_completion.sync_detailed(client=client, body=request)
    if isinstance(response.parsed, ErrorResponse):
        print(int(response.status_code), response.parsed.error.type_, response.parsed.error.code)


def read_chunks(prompt: str) -> Iterator[ChatCompletionChunk]:
    """Ends normally only after `[DONE]`."""
    request = ChatCompletionRequest(model=MODEL, messages=[user(prompt)], stream=True)
    http = client.get_httpx_client()
    with connect_sse(http, "POST", "/v1/chat/completions", json=request.to_dict()) as source:
        source.response.raise_for_status()
        for event in source.iter_sse():
            if event.data == "[DONE]":
                return
            data = json.loads(event.data)
            if "error" in data:
                raise RuntimeError(f"stream error: {StreamError.from_dict(data).error.code}")
            yield ChatCompletionChunk.from_dict(data)
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
