"""Reads a streamed answer: bytes in, typed chunks out. Python 3.11, standard library only."""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import NotRequired, TypedDict


class FunctionPart(TypedDict):
    name: NotRequired[str]
    arguments: str


class ToolCallPart(TypedDict):
    index: int
    id: NotRequired[str]
    function: FunctionPart


class Delta(TypedDict):
    content: NotRequired[str]
    tool_calls: NotRequired[list[ToolCallPart]]


class Choice(TypedDict):
    index: int
    delta: Delta
    finish_reason: str | None


class Usage(TypedDict):
    total_tokens: int
    cost_usd: str


class Chunk(TypedDict):
    """The fields that most programs read; `/streams.json` describes all of them."""

    choices: list[Choice]
    usage: NotRequired[Usage | None]


class StreamFailed(Exception):
    """The service ended the stream with an error."""

    def __init__(self, message: str, code: str | None, request_id: str) -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class StreamTruncated(Exception):
    """The bytes ended before `[DONE]`, so the answer is not complete, even if it looks complete."""


def read_stream(body: Iterable[bytes]) -> Iterator[Chunk]:
    """Yields the chunks of a streamed answer. Raises an exception unless the answer is complete."""
    for data in read_events(body):
        if data == "[DONE]":
            return
        event = json.loads(data)
        if "error" in event:
            raise StreamFailed(event["error"]["message"], event["error"]["code"], event["request_id"])
        yield event
    raise StreamTruncated("the stream ended without [DONE]")


def read_events(body: Iterable[bytes]) -> Iterator[str]:
    data: list[str] = []
    for line in read_lines(body):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        if line or not data:  # a comment, another field, or an event without data
            continue
        yield "\n".join(data)
        data = []


def read_lines(body: Iterable[bytes]) -> Iterator[str]:
    """Yields lines, which end with LF, CR or CRLF. `splitlines` would split elsewhere, too. Pieces end anywhere."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")  # drops a byte order mark
    rest, is_after_cr = "", False
    for piece in body:
        text = decoder.decode(piece)
        if not text:
            continue
        if is_after_cr:
            text = text.removeprefix("\n")
        is_after_cr = text.endswith("\r")
        first, *others = re.split(r"\r\n|\n|\r", text)
        *lines, rest = [rest + first, *others]
        yield from lines
