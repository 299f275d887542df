"""Writes the tokenizer's files in the layout that transformers, vLLM and llama.cpp read."""

import json

from tokenizers import Tokenizer

from training.byte_pairs import PATTERN, byte_alphabet
from training.chat import CONTROL_TOKENS, END_OF_TURN, MARK_TOKENS, read_template


def vocabulary(merges, size):
    """Returns the tokens in order of id: bytes, merges, unused names up to `size`, then the marks of the template."""
    marks = CONTROL_TOKENS + MARK_TOKENS
    tokens = byte_alphabet() + ["".join(pair) for pair in merges]
    if len(set(tokens)) != len(tokens):
        raise ValueError("two merges give the same token")
    spare = size - len(tokens) - len(marks)
    if spare < 0:
        raise ValueError(f"{-spare} merges too many for a vocabulary of {size}")
    return tokens + [f"<|unused_{index}|>" for index in range(spare)] + marks


def added_token(token_id, text):
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": token_id, "content": text, **flags, "special": text in CONTROL_TOKENS}


def tokenizer_json(merges, size):
    tokens = vocabulary(merges, size)
    marks = set(CONTROL_TOKENS + MARK_TOKENS)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(i, t) for i, t in enumerate(tokens) if t in marks],
        "normalizer": None,  # llama.cpp has none either
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": byte_level,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: index for index, token in enumerate(tokens) if token not in marks},
            "merges": [list(pair) for pair in merges],
        },
    }


def tokenizer_config(context):
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": None,
        "eos_token": END_OF_TURN,
        "pad_token": CONTROL_TOKENS[0],
        "unk_token": None,
        "add_bos_token": False,
        "add_prefix_space": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": context,
        "chat_template": read_template(),
    }


def load_tokenizer(path):
    return Tokenizer.from_str(path.read_text(encoding="utf-8"))


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
