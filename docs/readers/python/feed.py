"""The program that `readers.test.ts` runs. Each line of the input is a stream, as pieces in hexadecimal digits. For
each, the program prints a line: a JSON array of the chunks that the reader found, and of the end of the stream."""

import json
import sys

from read_stream import Chunk, StreamFailed, StreamTruncated, read_stream


def describe(chunk: Chunk) -> str:
    text = ""
    for choice in chunk["choices"]:
        calls = choice["delta"].get("tool_calls", [])
        arguments = "".join(call["function"]["arguments"] for call in calls)
        text += choice["delta"].get("content", "") + arguments + (choice["finish_reason"] or "")
    usage = chunk.get("usage")
    return text + (str(usage["total_tokens"]) if usage else "")


def read(line: str) -> list[str]:
    found: list[str] = []
    try:
        for chunk in read_stream(bytes.fromhex(piece) for piece in line.split(" ")):
            found.append(describe(chunk))
    except StreamTruncated:
        return [*found, "truncated"]
    except StreamFailed as failure:
        return [*found, f"{failure.code} {failure.request_id}"]
    return [*found, "done"]


for line in sys.stdin:
    print(json.dumps(read(line.strip("\n"))))
