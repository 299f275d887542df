"""Instructor over OpenAI's SDK: answers as objects, by schema and by tool."""

from typing import Any

import instructor
from openai import OpenAI

from completions import Answer


def make(base_url: str, key: str, call: dict[str, Any]) -> dict[str, Any] | None:
    modes = {"parse": instructor.Mode.JSON_SCHEMA, "tool loop": instructor.Mode.TOOLS}
    mode = modes.get(call["method"])
    if mode is None:
        return None
    client = instructor.from_openai(OpenAI(base_url=base_url, api_key=key, timeout=call["timeoutSeconds"]), mode=mode)
    members = {name: value for name, value in call["members"].items() if name not in ("tools", "tool_choice")}
    return {"parsed": client.create(**members, response_model=Answer, max_retries=0).model_dump()}
