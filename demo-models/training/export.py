"""Writes one trained model as safetensors and as GGUF. The same weights always give the same bytes."""

import torch
from safetensors.torch import save

from training.chat import CONTROL_TOKENS, END_OF_TURN
from training.gguf_file import write_gguf
from training.tokenizer import tokenizer_config, tokenizer_json, vocabulary, write_json


def model_config(shape, tokens):
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": shape.vocab,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.feed_forward,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": shape.context,
        "rope_theta": shape.rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.rope_theta},
        "rms_norm_eps": shape.eps,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "use_sliding_window": False,
        "tie_word_embeddings": True,
        "initializer_range": 0.02,
        "bos_token_id": None,
        "eos_token_id": tokens.index(END_OF_TURN),
        "pad_token_id": tokens.index(CONTROL_TOKENS[0]),
        "dtype": "bfloat16",
        "use_cache": True,
    }


def generation_config(tokens):
    ids = [tokens.index(END_OF_TURN), tokens.index(CONTROL_TOKENS[0])]
    return {"eos_token_id": ids, "pad_token_id": ids[1], "do_sample": False}


def rounded(state):
    """Returns the weights in the exported form: bfloat16, in order of name."""
    return {name: state[name].to(torch.bfloat16).contiguous() for name in sorted(state)}


def export_model(folder, name, shape, state, merges):
    """Writes every file of one model except the model card into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    tokens, weights = vocabulary(merges, shape.vocab), rounded(state)
    (folder / "model.safetensors").write_bytes(save(weights, metadata={"format": "pt"}))
    write_json(folder / "config.json", model_config(shape, tokens))
    write_json(folder / "generation_config.json", generation_config(tokens))
    write_json(folder / "tokenizer.json", tokenizer_json(merges, shape.vocab))
    write_json(folder / "tokenizer_config.json", tokenizer_config(shape.context))
    write_gguf(folder / f"{name}.bf16.gguf", name, shape, weights, merges)
