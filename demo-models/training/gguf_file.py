"""Writes a GGUF file for llama.cpp."""

import gguf
import torch

from training.chat import CONTROL_TOKENS, END_OF_TURN, MARK_TOKENS, read_template
from training.tokenizer import vocabulary

LAYER_TENSORS = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
OUTER_TENSORS = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}


def gguf_name(name):
    """`model.layers.3.mlp.up_proj.weight` → `blk.3.ffn_up.weight`. The output layer is absent: it is the embedding."""
    if name in OUTER_TENSORS:
        return OUTER_TENSORS[name]
    _, _, layer, part = name.removesuffix(".weight").split(".", 3)
    return f"blk.{layer}.{LAYER_TENSORS[part]}.weight"


def add_facts(writer, name, shape):
    writer.add_name(f"Parley demonstration {name}")
    writer.add_description("A small demonstration model of Parley. It is not the operator's model.")
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.hidden)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_dim)
    writer.add_value_length(shape.head_dim)
    writer.add_layer_norm_rms_eps(shape.eps)
    writer.add_rope_freq_base(shape.rope_theta)


def token_type(token):
    if token in CONTROL_TOKENS:
        return gguf.TokenType.CONTROL
    if token in MARK_TOKENS:
        return gguf.TokenType.USER_DEFINED
    return gguf.TokenType.UNUSED if token.startswith("<|unused_") else gguf.TokenType.NORMAL


def add_tokenizer(writer, merges, size):
    tokens = vocabulary(merges, size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([token_type(token) for token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(tokens.index(END_OF_TURN))
    writer.add_pad_token_id(tokens.index(CONTROL_TOKENS[0]))
    writer.add_add_bos_token(False)
    writer.add_chat_template(read_template())


def add_weight(writer, name, weight):
    if weight.ndim == 1:  # llama.cpp needs norms in float32
        writer.add_tensor(gguf_name(name), weight.float().numpy())
        return
    words = weight.view(torch.int16).numpy().view("uint8")
    writer.add_tensor(gguf_name(name), words, raw_dtype=gguf.GGMLQuantizationType.BF16)


def write_gguf(path, name, shape, weights, merges):
    writer = gguf.GGUFWriter(path, "qwen3")
    add_facts(writer, name, shape)
    add_tokenizer(writer, merges, shape.vocab)
    for weight_name, weight in weights.items():
        add_weight(writer, weight_name, weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
