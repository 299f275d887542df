"""Draws whole requests: a body and its spelling, headers, and the key."""

from random import Random
from typing import Any

from parley_fuzz import grammar
from parley_fuzz.contract import limits
from parley_fuzz.run_config import IS_SCRIPTED, LIMITED_KEY, MODEL_IDS, SCENARIOS, SLOW_SCENARIO, SPENT_KEY

HEADER_CHOICES: list[tuple[float, dict[str, str]]] = [
    (0.06, {"x-strict-params": "TRUE"}),
    (0.02, {"x-strict-params": "yes"}),
    (0.1, {"X-Client-Request-Id": "order-4711/attempt-2"}),
    (0.01, {"X-Client-Request-Id": "x" * 513}),
    (0.04, {"x-request-id": "mine"}),
    (0.05, {"Accept": "text/html"}),
    (0.03, {"Content-Type": 'Application/JSON ; charset="UTF-8"'}),
    (0.004, {"Content-Type": "text/plain"}),
    (0.004, {"Content-Type": "application/json; charset=latin-1"}),
    (0.004, {"Content-Encoding": "gzip"}),
    (0.004, {"Authorization": "Bearer not-a-key-of-this-server"}),
    (0.01, {"Authorization": f"bearer {LIMITED_KEY}"}),
    (0.01, {"Authorization": f"BEARER {SPENT_KEY}"}),
    (0.002, {"Expect": "banana"}),
]


def draw_headers(rng: Random) -> dict[str, str]:
    headers: dict[str, str] = {}
    for odds, some in HEADER_CHOICES:
        if rng.random() < odds and "Bearer None" not in str(some):
            headers |= some
    return headers


def draw_payload(rng: Random) -> dict[str, Any] | bytes:
    """Draws a body: over half are valid, about a third have one fault, and the rest are scenarios, long or malformed."""
    odds = rng.random()
    if odds < 0.02:
        return draw_broken(rng)
    if odds < 0.04 and IS_SCRIPTED:
        return scenario(rng, rng.choice(["fails", "breaks", SLOW_SCENARIO]))
    if odds < 0.042:
        return long_conversation(rng)
    place = grammar.any_place(rng)
    return grammar.spell(rng, grammar.draw_body(rng, place, is_faulty=odds < 0.38))


def scenario(rng: Random, name: str) -> dict[str, Any]:
    assert name in SCENARIOS or name == SLOW_SCENARIO
    message = {"role": "user", "content": f"script:{name}"}
    return {"model": rng.choice(MODEL_IDS), "messages": [message], "stream": rng.random() < 0.5}


def long_conversation(rng: Random) -> dict[str, Any]:
    """Draws a prompt about as long as the context window, or much longer."""
    words = "a b c " * rng.choice([limits["contextLengthTokens"] // 2, limits["contextLengthTokens"] * 2])
    message = {"role": "user", "content": words}
    return {"model": rng.choice(MODEL_IDS), "messages": [message], "max_tokens": 1, "stream": rng.random() < 0.5}


def draw_broken(rng: Random) -> bytes:
    """Draws bytes that are not a valid request: not JSON, nested too deep, too large, or JSON of another type."""
    good = grammar.spell(rng, grammar.draw_body(rng))
    most = limits["maxNestingLevels"]
    makers = [
        lambda: b"",
        lambda: good[: rng.randrange(len(good))],
        lambda: good + b"x",
        lambda: b"\xff" + good,
        lambda: rng.choice([b"null", b"[]", b'"text"', b"5", b"true", b"NaN", b"{'a': 1}", b"[1,]", b"\xef\xbb\xbf5"]),
        lambda: _nested(most + rng.choice([-1, 0, 1])),
        lambda: b'{"model": "nobody/nothing", ' + good[1:] if good[1:2] != b"}" else good,
        lambda: (
            good[:-1] + b', "seed": %s}' % rng.choice([b"7.0", b"1e3", b"9223372036854775808", b"-9223372036854775808"])
        ),
        lambda: good[:-1] + b', "seed": ' + b"9" * 400 + b"}",
        lambda: b'{"model": "' + b"x" * limits["maxBodyBytes"] + b'"}',
    ]
    return rng.choice(makers)()


def _nested(levels: int) -> bytes:
    inner = levels - 1
    return b'{"mood": ' + b"[" * inner + b"]" * inner + b', "model": "%s", "messages": []}' % MODEL_IDS[0].encode()
