"""The hooks of Schemathesis: they draw the cases, and check and record every answer."""

from random import Random
from typing import Any

import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, HookContext

from parley_fuzz import draw_request
from parley_fuzz.checks import answer, errors, headers, judgement
from parley_fuzz.contract import CHAT, null_places
from parley_fuzz.exchange import Exchange
from parley_fuzz.register import register
from parley_fuzz.run_config import IS_AUTH_RUN, IS_SCRIPTED, IS_SHALLOW, KEY, SOURCE
from parley_fuzz.variant import declare_edge, describe_events, offer_models

SEEDS = st.binary(min_size=8, max_size=8)
MOST_SECONDS = 15
STALL_AT = 40
"""Only one case of a run waits for the server's deadline, because that takes long."""
UNAUTHENTICATED_EVERY = 20
_sent = 0


@schemathesis.hook
def before_load_schema(context: HookContext, raw_schema: dict[str, Any]) -> None:
    declare_edge(raw_schema)
    describe_events(raw_schema)
    if not IS_SHALLOW:
        offer_models(raw_schema)


def is_drawn_by_grammar(context: HookContext) -> bool:
    return SOURCE == "grammar" and is_chat(context) and not IS_SHALLOW


def is_chat(context: HookContext) -> bool:
    return context.operation is not None and context.operation.path == CHAT


@schemathesis.hook
def before_generate_body(context: HookContext, strategy: Any) -> Any:
    """The grammar draws whole requests, so Schemathesis need not draw a body."""
    return st.just({}) if is_drawn_by_grammar(context) else strategy


@schemathesis.hook
def before_generate_headers(context: HookContext, strategy: Any) -> Any:
    """Lets Hypothesis choose only the seed of the grammar. With other choices, it repeats half of the seeds."""
    return st.just({}) if is_drawn_by_grammar(context) else strategy


@schemathesis.hook
def flatmap_case(context: HookContext, case: Case) -> Any:
    if is_drawn_by_grammar(context):
        return SEEDS.map(lambda seed: from_grammar(case, Random(seed)))
    return st.just(lead_deeper(case) if is_chat(context) and not IS_SHALLOW else case)


def from_grammar(case: Case, rng: Random) -> Case:
    case.body = draw_request.draw_payload(rng)
    case.headers.clear()
    case.headers.update(draw_request.draw_headers(rng))
    return case


def lead_deeper(case: Case) -> Case:
    """Streams half of Schemathesis's own bodies, and gives valid ones the fields that others depend on."""
    body = case.body
    if isinstance(body, dict) and case.meta is not None and case.meta.generation.mode.is_positive:
        body["stream"] = Random(repr(body)).random() < 0.5
        if not body["stream"]:
            body.pop("stream_options", None)
        if body.get("logprobs") is not True:
            body.pop("top_logprobs", None)
        leave_out_refused(body)
    return case


def leave_out_refused(body: dict[str, Any]) -> None:
    """Removes members that the server refuses unless they are null: nearly every valid body would be refused for one of them."""
    messages = body.get("messages")
    for owner in [body, *(messages if isinstance(messages, list) else [])]:
        for place in null_places:
            owner.pop(place.rpartition(".")[2], None)


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    global _sent
    _sent += 1
    if IS_SCRIPTED and SOURCE == "grammar" and _sent == STALL_AT and is_chat(context):
        case.body = draw_request.scenario(Random(0), "stalls")
        case.headers.clear()
    # Another name for each call: the same name with another body is refused, whatever the body is.
    if "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = f"call {_sent}"
    # Not set in the configuration, which would override the headers of a case: some cases have another key.
    if not IS_AUTH_RUN:
        is_unauthenticated = _sent % UNAUTHENTICATED_EVERY == 0 and not is_chat(context)
        case.headers.setdefault("Authorization", f"Bearer {'not-a-key-of-this-server' if is_unauthenticated else KEY}")


class KeyOfServer:
    """The key of a request, for Schemathesis. It removes and replaces the key to test that the server requires one."""

    def get(self, case: Case, context: schemathesis.AuthContext) -> str:
        return KEY

    def set(self, case: Case, data: str, context: schemathesis.AuthContext) -> None:
        case.headers["Authorization"] = f"Bearer {data}"


if IS_AUTH_RUN:
    schemathesis.auth()(KeyOfServer)


def deadline(exchange: Exchange) -> str | None:
    """Every answer is complete before the deadline."""
    return f"the answer took {exchange.seconds:.1f} s" if exchange.seconds > MOST_SECONDS else None


for one in (
    errors.error_envelope,
    errors.no_leak,
    headers.response_headers,
    headers.rate_limit_headers,
    headers.retry_headers,
    headers.ignored_params,
    answer.media_type,
    answer.stream_events,
    answer.completion_schema,
    answer.answer_form,
    answer.usage_arithmetic,
    judgement.judgement,
    deadline,
):
    register(one)
