"""Writes cases for the cross-check with llama.cpp and with Node's template engine; `compare.mjs` reads them.

transformers gives the expected text and tokens of each conversation, and the model's answer.
"""

import json
import random

import torch
from transformers import AutoTokenizer

from training.chat import render_prompt
from training.evaluate import examination
from training.generate import Speaker

CALL = {"type": "function", "function": {"name": "get_balance", "arguments": {"address": "0xAb", "n": 1.5, "ok": True}}}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_balance",
        "description": "Balance of an “address” <b>&'quoted'",
        "parameters": {"type": "object", "properties": {"address": {"type": "string"}}, "required": ["address"]},
        "strict": True,
    },
}
BARE_TOOL = {"type": "function", "function": {"name": "now"}}

NASTY = [
    "",
    " ",
    "  two  spaces   three    four ",
    "\n\n\nlines\r\n\r\n\ttabs\t\t",
    "emoji 👩‍👩‍👧‍👦🏳️‍🌈🇩🇪 👍🏽",
    "漢字かな交じり文、한국어 텍스트",
    "مرحبا بالعالم שלום עולם",
    "e\u0301 vs é, ﬁ, Å, ①②③ ½ Ⅷ ٣٤٥",
    "0x52908400098527886E0F7030069850D2EE8D9F08 and 1234567890.00012",
    "it's I'LL we've DON'T o'clock 'tis",
    "a\u00a0b\u2003c\u200bd\ufeffe\u0000f\u001b[0m",
    "```solidity\nfunction f() external { x += 1; }\n```",
    "!!!???...,,,;;;---___***///\\\\\\|||",
    "𝕌𝕟𝕚𝕔𝕠𝕕𝕖 ∑∏∫ ≠≤≥ ← → ⇒",
    "naïve café Größe Straße İstanbul ŁÓDŹ",
    " \n leading and trailing \n ",
    "word\n\n  indented\n    more",
    "CamelCaseWords snake_case kebab-case UPPER",
]


def user(text):
    return {"role": "user", "content": text}


def template_table():
    """Returns rows (title, messages, tools, thinking) that use every branch of the template at least once."""
    answer = {"role": "assistant", "content": "Hello."}
    calling = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    saying = {"role": "assistant", "content": "I look it up.", "tool_calls": [CALL, CALL]}
    written = {"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    result = {"role": "tool", "tool_call_id": "1", "content": '{"balance": 1}'}
    system = {"role": "system", "content": "Be brief."}
    return [
        ("one question", [user("Hi")], None, False),
        ("thinking", [user("Hi")], None, True),
        ("system", [system, user("Hi")], None, False),
        ("two turns", [user("Hi"), answer, user("Bye")], None, False),
        ("late system", [user("Hi"), answer, system, user("Bye")], None, False),
        ("tools", [user("Hi")], [TOOL], False),
        ("system and tools", [system, user("Hi")], [TOOL, BARE_TOOL], True),
        ("tools without the wrapper", [user("Hi")], [TOOL["function"]], False),
        ("a call and its result", [user("Hi"), calling, result], [TOOL], False),
        ("text and two calls and results", [user("Hi"), saying, result, result], [TOOL], False),
        ("arguments as text", [user("Hi"), {**calling, "tool_calls": [written]}, result, user("And?")], [TOOL], False),
        ("results of two turns", [user("Hi"), calling, result, calling, result, user("ok")], [TOOL], True),
        ("empty texts", [{"role": "system", "content": ""}, user("")], [], False),
        ("no text at all", [user("Hi"), {"role": "assistant", "content": None}, user("?")], None, False),
        *[(f"nasty {index}", [user(text)], None, False) for index, text in enumerate(NASTY)],
    ]


def template_cases(tokenizer):
    for title, messages, tools, thinking in template_table():
        options = {"tools": tools, "add_generation_prompt": True, "enable_thinking": thinking}
        text = tokenizer.apply_chat_template(messages, tokenize=False, **options)
        if text != render_prompt(messages, tools, thinking):
            raise AssertionError(f"{title}: transformers renders another text than the training did")
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        yield {"title": title, "messages": messages, "tools": tools, "thinking": thinking, "text": text, "ids": ids}


def token_cases(tokenizer, count=200):
    """Returns the ids of tricky and random texts, without the template's tokens, as for a caller's text."""
    dice = random.Random(7)
    ranges = [(32, 126), (160, 591), (0x370, 0x52F), (0x4E00, 0x4FFF), (0x1F600, 0x1F64F), (9, 13)]
    texts = list(NASTY)
    for _ in range(count):
        picked = [dice.choice(ranges) for _ in range(dice.randint(1, 4))]
        texts.append("".join(chr(dice.randint(*dice.choice(picked))) for _ in range(dice.randint(1, 60))))
    for text in texts:
        yield {"text": text, "ids": tokenizer(text, add_special_tokens=False)["input_ids"]}


def greedy_cases(folder, corpus, seed, count, dtype):
    lessons = list(examination(corpus, seed))
    lessons = random.Random(11).sample(lessons, count)
    prompts = [render_prompt(lesson.messages, lesson.tools, lesson.thinking) for lesson in lessons]
    speaker = Speaker(folder, dtype)
    # One prompt at a time, because padding next to a longer prompt would round differently.
    return [
        {"kind": lesson.kind, "prompt": prompt, "answer": speaker.answer([prompt])[0]}
        for lesson, prompt in zip(lessons, prompts, strict=True)
    ]


def write_cases(folders, corpus, preset, file, count=30):
    cases = {}
    for folder in folders:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        cases[folder.name] = {
            "templates": list(template_cases(tokenizer)),
            "tokens": list(token_cases(tokenizer)),
            "greedy": greedy_cases(folder, corpus, preset.seed, count, torch.bfloat16),
        }
    file.write_text(json.dumps(cases, ensure_ascii=False), encoding="utf-8")
