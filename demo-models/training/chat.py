"""Renders a conversation with the models' chat template: the prompt that is read, and the answer that is taught."""

import json
from functools import lru_cache
from pathlib import Path

from jinja2.sandbox import ImmutableSandboxedEnvironment

TEMPLATE_FILE = Path(__file__).with_name("chat_template.jinja")
CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARK_TOKENS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
NO_THOUGHT = "<think>\n\n</think>\n\n"
SCHEMA_PROMPT = "Reply with JSON of this schema: {schema}"
START_OF_TURN, END_OF_TURN = "<|im_start|>", "<|im_end|>"


def read_template():
    """Returns the template's text without its last newline."""
    return TEMPLATE_FILE.read_text(encoding="utf-8").rstrip("\n")


@lru_cache
def compiled():
    # The same options as transformers, so that both render the same text.
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = to_json
    return environment.from_string(read_template())


def to_json(value):
    return json.dumps(value, ensure_ascii=False)


def show_schema(schema):
    """Returns the line with which a server shows the models a schema (`schema_prompt` of their record): compact JSON."""
    return SCHEMA_PROMPT.replace("{schema}", json.dumps(schema, ensure_ascii=False, separators=(",", ":")))


def render_prompt(messages, tools=None, thinking=False):
    """Returns the text that a model reads before it answers."""
    return compiled().render(messages=messages, tools=tools, add_generation_prompt=True, enable_thinking=thinking)


def render_call(name, arguments):
    return f'<tool_call>\n{{"name": {to_json(name)}, "arguments": {to_json(arguments)}}}\n</tool_call>'


def render_answer(answer, plan=None):
    """Returns the text that a model is taught to write; `plan` is its thinking before the answer."""
    return answer if plan is None else f"<think>\n{plan}\n</think>\n\n{answer}"
