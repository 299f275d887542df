"""Reads the weights of an exported model. The repository has only GGUF; transformers reads safetensors."""

import gguf
import torch
from safetensors.torch import save_file

from training.gguf_file import LAYER_TENSORS, OUTER_TENSORS

LAYER_NAMES = {short: name for name, short in LAYER_TENSORS.items()}
OUTER_NAMES = {short: name for name, short in OUTER_TENSORS.items()}


def name_of(tensor):
    """`blk.3.ffn_up.weight` → `model.layers.3.mlp.up_proj.weight`."""
    if tensor in OUTER_NAMES:
        return OUTER_NAMES[tensor]
    _, layer, part, _ = tensor.split(".")
    return f"model.layers.{layer}.{LAYER_NAMES[part]}.weight"


def read_weights(folder):
    """Returns name → tensor in bfloat16, from the folder's GGUF file."""
    weights = {}
    for tensor in gguf.GGUFReader(folder / f"{folder.name}.bf16.gguf").tensors:
        values = torch.from_numpy(tensor.data.copy())
        is_whole = tensor.tensor_type == gguf.GGMLQuantizationType.F32
        values = values.to(torch.bfloat16) if is_whole else values.view(torch.bfloat16)
        weights[name_of(tensor.name)] = values.reshape([int(size) for size in reversed(tensor.shape)])
    return weights


def ensure_safetensors(folder):
    """Writes `model.safetensors` if it is missing, as after a clone."""
    file = folder / "model.safetensors"
    if not file.exists():
        save_file(read_weights(folder), file, metadata={"format": "pt"})
