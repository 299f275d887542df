"""The weights that training starts from: two layers are laid out so that they copy from the first step on.

What stood behind an earlier occurrence of the present token is taken over ("induction heads", Olsson et al., 2022). Left to itself a
network of this size copied 18 of 40 texts at the end of its hour. Everything here is trained on like the rest.
"""

import torch
from torch import nn

from training.weights import read_weights

FAST = 5  # rotary pairs that tell neighbours apart
REACH = 300  # tokens over which the slow pairs turn too little to disturb a look-up
OUTPUT = 0.02  # of the last norm: an embedding of 1 is the output layer, too
CONSTANT = 3.0  # of the embedding's first dimension; the others vary by 1
NOISE = 0.1  # of what was drawn by chance, where a circuit is laid
SHARPNESS = (2.0, 1.5)  # of the queries and keys of the two layers
# Of what the two layers write, beside an embedding of 1; louder, and the other layers learn slowly.
LOUDNESS = (1.5, 4.0)


def start(model):
    """Draws the weights of a `Qwen3`; nothing is written into the stream between the layers except by the circuit."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
    for layer in model.model.layers:
        nn.init.zeros_(layer.self_attn.o_proj.weight)
        nn.init.zeros_(layer.mlp.down_proj.weight)
    nn.init.normal_(model.model.embed_tokens.weight)
    nn.init.constant_(model.model.norm.weight, OUTPUT)
    model.model.embed_tokens.weight.data[:, 0] = CONSTANT
    parts = orthogonal_parts(model.shape)
    first, second, *_ = model.model.layers
    look_back(first.self_attn, model.shape, parts)
    look_up(second.self_attn, model.shape, parts)


def start_from(model, teacher, layers):
    """The student's first weights: the teacher's, with the `layers` that it keeps."""
    for part in ("embed_tokens", "norm"):
        getattr(model.model, part).load_state_dict(getattr(teacher.model, part).state_dict())
    for layer, number in zip(model.model.layers, layers, strict=True):
        layer.load_state_dict(teacher.model.layers[number].state_dict())


def orthogonal_parts(shape):
    """Four orthonormal bases, [size, hidden] each, beside the first dimension: two read a token's code, and into the other two
    the codes of the last token and of the one before it are written."""
    size = min(shape.head_dim - 1, (shape.hidden - 1) // 4)
    basis = torch.linalg.qr(torch.randn(shape.hidden - 1, shape.hidden - 1))[0]
    basis = torch.cat([torch.zeros(shape.hidden - 1, 1), basis], dim=1)
    return basis[: 4 * size].split(size)


def turns(shape):
    """The angle, in radians per token, of each rotary pair."""
    pairs = torch.arange(0, shape.head_dim, 2, dtype=torch.float64)
    return (shape.rope_theta ** -(pairs / shape.head_dim)).float()


def head(weight, number, shape):
    """The rows of one head in a projection's weight."""
    return weight.data[number * shape.head_dim : (number + 1) * shape.head_dim]


def quieten(attention, sharpness):
    for projection in (attention.q_proj, attention.k_proj):
        projection.weight.data.mul_(NOISE)
    attention.q_norm.weight.data.fill_(sharpness)
    attention.k_norm.weight.data.fill_(sharpness)


def look_back(attention, shape, parts):
    """Two heads look one and two tokens back: constant keys, and constant queries turned by as much."""
    code, _, *written = parts
    quieten(attention, SHARPNESS[0])
    angle, half = turns(shape)[:FAST], shape.head_dim // 2
    for number in range(shape.kv_heads):
        head(attention.k_proj.weight, number, shape)[:FAST, 0] = 1
    sharing = shape.heads // shape.kv_heads
    for number, part in enumerate(written):
        head(attention.v_proj.weight, number // sharing, shape).zero_()[: len(code)] = code
        distance = number + 1
        query = head(attention.q_proj.weight, number, shape)
        query[:FAST, 0] = torch.cos(angle * distance)
        query[half : half + FAST, 0] = -torch.sin(angle * distance)
        write(attention, number, shape, part, LOUDNESS[0])


def look_up(attention, shape, parts):
    """All heads look for a place whose last two tokens are the present one and the one before, and take over what stands there."""
    *codes, before, two_before = parts
    quieten(attention, SHARPNESS[1])
    half = shape.head_dim // 2
    slow = [pair for pair, angle in enumerate(turns(shape).tolist()) if angle * REACH < 1]
    slow += [half + pair for pair in slow]
    two = slow[2::3]
    one = [row for row in slow if row not in two][: len(before)]
    for number in range(shape.kv_heads):
        key = head(attention.k_proj.weight, number, shape)
        key[one] += before[: len(one)]
        key[two] += two_before[: len(two)]
        code = codes[number % len(codes)]
        head(attention.v_proj.weight, number, shape).zero_()[: len(code)] = code
    sharing = shape.heads // shape.kv_heads
    for number in range(shape.heads):
        query = head(attention.q_proj.weight, number, shape)
        query[one] += codes[0][: len(one)]
        query[two] += before[: len(two)]
        write(attention, number, shape, codes[number // sharing % len(codes)], LOUDNESS[1] / sharing)


def write(attention, number, shape, part, loudness):
    first = number * shape.head_dim
    attention.o_proj.weight.data[:, first : first + len(part)] = part.T * loudness


def start_from_export(model, folder):
    """The weights of a model that was exported earlier, of the same shape and tokenizer."""
    model.load_state_dict(read_weights(folder))
