"""Checks of an accepted request: the form of its answer, the requested choices, and the arithmetic of usage and price."""

import json
import time
from decimal import Decimal
from typing import Any

import jsonschema_rs

from parley_fuzz.answers import Answer, Choice, answer_of
from parley_fuzz.contract import catalog
from parley_fuzz.exchange import Exchange, NotJson, parse_json
from parley_fuzz.run_config import PRICES, SCENARIOS
from parley_fuzz.schema_validators import fault_of
from parley_fuzz.stream_machine import Violation, run_stream

_seen_ids: set[str] = set()


def _is_answer(exchange: Exchange) -> bool:
    return exchange.is_chat and exchange.is_taken


def scenario_of(exchange: Exchange) -> str | None:
    """Returns the scenario of the scripted engine that a request plays, if any."""
    messages = exchange.asked.get("messages")
    texts = [one.get("content") for one in messages or [] if isinstance(one, dict) and one.get("role") == "user"]
    last = texts[-1] if texts else None
    if not isinstance(last, str) or not last.startswith("script:"):
        return None
    return last.removeprefix("script:")


def media_type(exchange: Exchange) -> str | None:
    """Only `stream` decides the media type of an answer."""
    if not _is_answer(exchange):
        return None
    wanted = "text/event-stream" if exchange.asked.get("stream") is True else "application/json"
    return None if exchange.media_type == wanted else f"the answer is {exchange.media_type}"


def stream_events(exchange: Exchange) -> str | None:
    """Checks each event of a stream by its schema, their order by the contract's machine, and the end by the request."""
    if not (_is_answer(exchange) and exchange.is_stream):
        return None
    try:
        run = run_stream(exchange.text, exchange.asked)
    except (Violation, NotJson, UnicodeDecodeError) as violation:
        return str(violation)
    for event in run.events:
        fault = None if event == "[DONE]" else fault_of("StreamEvent", event)
        if fault is not None:
            return f"an event is no StreamEvent: {fault}"
    if run.end == "done":
        return None
    error = run.events[-1] if run.events else None
    if run.end != "failed" or not isinstance(error, dict):
        return f"the stream just breaks off ({run.end})"
    if scenario_of(exchange) not in SCENARIOS:
        return f"the stream failed: {error['error']}"
    if error["request_id"] != exchange.headers.get("x-request-id"):
        return "request_id of the error event is not x-request-id"
    return None if catalog[error["error"]["code"]]["in_stream"] else f"{error['error']['code']} may not end a stream"


def completion_schema(exchange: Exchange) -> str | None:
    """A plain answer is a ChatCompletion without other members."""
    return fault_of("ChatCompletion", exchange.json) if _is_answer(exchange) and not exchange.is_stream else None


def answer_form(exchange: Exchange) -> str | None:
    """Checks the model, the unique id, the number of choices, and the requested form of each choice."""
    if not _is_answer(exchange):
        return None
    answer = answer_of(exchange)
    if not answer.is_whole:
        return None
    head, asked = answer.head, exchange.asked
    if head["id"] in _seen_ids:
        return f"the id {head['id']} was used before"
    _seen_ids.add(head["id"])
    if head["model"] != asked["model"]:
        return f"{head['model']} answers for {asked['model']}"
    if abs(time.time() - head["created"]) > 120:
        return f"created is {head['created']}"
    if list(answer.choices) != list(range(len(answer.choices))) and not exchange.is_stream:
        return f"the indexes of the choices are {list(answer.choices)}"
    if set(answer.choices) != set(range(int(asked.get("n", 1)))):
        return f"n is {asked.get('n', 1)}, and there are the choices {sorted(answer.choices)}"
    return next((fault for one in answer.choices.values() if (fault := _choice(one, asked)) is not None), None)


def _choice(choice: Choice, asked: dict[str, Any]) -> str | None:
    if choice.content is None and not choice.calls:
        return "neither content nor calls"
    return _stop(choice, asked) or _logprobs(choice, asked) or _calls(choice, asked) or _format(choice, asked)


def _stop(choice: Choice, asked: dict[str, Any]) -> str | None:
    stop = asked.get("stop", [])
    found = [one for one in ([stop] if isinstance(stop, str) else stop) if one in (choice.content or "")]
    return f"the stop text {found[0]!r} is in the answer" if found else None


def _logprobs(choice: Choice, asked: dict[str, Any]) -> str | None:
    if asked.get("logprobs") is not True:
        return None if choice.logprobs is None else "logprobs that nobody asked for"
    entries = choice.logprobs or []
    text = bytes(byte for entry in entries for byte in entry["bytes"])
    if text.decode("utf-8", "replace") != (choice.content or "") and "stop" not in asked:
        return "the bytes of the logprobs are not the content"
    if any(len(entry["top_logprobs"]) > asked.get("top_logprobs", 0) or entry["logprob"] > 0 for entry in entries):
        return "more alternatives than were asked for, or a log-probability above 0"
    return None


def _calls(choice: Choice, asked: dict[str, Any]) -> str | None:
    offered = {tool["function"]["name"]: tool["function"] for tool in asked.get("tools", [])}
    wanted = asked.get("tool_choice", "auto")
    if not choice.calls:
        is_missed = (wanted == "required" or isinstance(wanted, dict)) and choice.finish != "length"
        return f"no call, and tool_choice is {wanted}" if is_missed else None
    if wanted == "none":
        return "a call against tool_choice none"
    if asked.get("parallel_tool_calls") is False and len(choice.calls) > 1:
        return f"{len(choice.calls)} calls in parallel"
    named = wanted["function"]["name"] if isinstance(wanted, dict) else None
    for call in choice.calls:
        if call["name"] not in offered or call["name"] != (named or call["name"]):
            return f"a call of {call['name']}"
        fault = _arguments(call, offered[call["name"]], wanted) if choice.finish == "tool_calls" else None
        if fault is not None:
            return fault
    return None


def _arguments(call: dict[str, str], function: dict[str, Any], wanted: object) -> str | None:
    try:
        value = parse_json(call["arguments"])
    except NotJson:
        return f"the arguments {call['arguments']!r} are not JSON"
    if not isinstance(value, dict):
        return f"the arguments {value!r} are no object"
    is_held = wanted == "required" or isinstance(wanted, dict) or function.get("strict") is True
    return _against(function.get("parameters") or {"maxProperties": 0}, value) if is_held else None


def _format(choice: Choice, asked: dict[str, Any]) -> str | None:
    form = asked.get("response_format", {"type": "text"})
    # A stop text, or a call, may end a value before it is whole.
    if form["type"] == "text" or choice.finish != "stop" or choice.content is None or "stop" in asked:
        return None
    try:
        value = parse_json(choice.content)
    except NotJson:
        return f"the content {choice.content!r} is not JSON"
    if form["type"] == "json_schema":
        return _against(form["json_schema"]["schema"], value)
    return None if isinstance(value, dict) else f"the content {choice.content!r} is no object"


def _against(schema: dict[str, Any], value: object) -> str | None:
    plain = {name: one for name, one in schema.items() if name != "$schema"}
    dialect = "https://json-schema.org/draft/2020-12/schema"
    is_valid = jsonschema_rs.validator_for({"$schema": dialect, **plain}).is_valid(value)
    return None if is_valid else f"{json.dumps(value)} is not valid against {json.dumps(schema)}"


def usage_arithmetic(exchange: Exchange) -> str | None:
    """Checks the sums, that no part exceeds its whole, the cap, and the exact price by the model's record."""
    if not _is_answer(exchange):
        return None
    answer = answer_of(exchange)
    asked = exchange.asked
    if answer.usage is None:
        is_owed = answer.is_whole and asked.get("stream_options", {}).get("include_usage") is True
        return "the counts are missing" if is_owed else None
    return _sums(answer.usage) or _cap(answer, asked) or _price(answer.usage, asked["model"])


def _sums(usage: dict[str, Any]) -> str | None:
    prompt, completion = usage["prompt_tokens"], usage["completion_tokens"]
    if usage["total_tokens"] != prompt + completion:
        return f"{prompt} + {completion} is not {usage['total_tokens']}"
    if usage["prompt_tokens_details"]["cached_tokens"] > prompt:
        return "more cached tokens than the prompt has"
    if usage["completion_tokens_details"]["reasoning_tokens"] > completion:
        return "more reasoning tokens than the answer has"
    return None


def _cap(answer: Answer, asked: dict[str, Any]) -> str | None:
    cap = asked.get("max_completion_tokens", asked.get("max_tokens"))
    if cap is None or answer.usage is None:
        return None
    completion = answer.usage["completion_tokens"]
    if completion > cap * len(answer.choices):
        return f"{completion} tokens of {len(answer.choices)} choices, and the cap is {cap}"
    is_cut = len(answer.choices) == 1 and answer.choices[0].finish == "length" and cap < 1000
    return f"cut by a cap of {cap} after {completion} tokens" if is_cut and completion != cap else None


def _price(usage: dict[str, Any], model: str) -> str | None:
    prices = {name: Decimal(price) for name, price in PRICES[model].items()}
    exact = (
        usage["prompt_tokens"] * prices["prompt"]
        + usage["completion_tokens"] * prices["completion"]
        + prices["request"]
    )
    return None if Decimal(usage["cost_usd"]) == exact else f"cost_usd is {usage['cost_usd']}, and should be {exact}"
