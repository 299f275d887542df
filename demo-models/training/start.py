"""The initial weights: two layers are built so that they copy from the first step on.

They copy the token that followed an earlier occurrence of the current token ("induction heads", Olsson et al., 2022). Without them, a
network of this size copied only 18 of 40 texts after an hour of training. All these weights are trained like the others.
"""

import torch
from torch import nn

from training.weights import read_weights

FAST = 5  # rotary pairs that distinguish neighbouring positions
REACH = 300  # tokens over which the slow pairs turn too little to disturb a look-up
OUTPUT = 0.02  # scale of the last norm, because the embedding of size 1 is also the output layer
CONSTANT = 3.0  # of the embedding's first dimension; the others vary by 1
NOISE = 0.1  # scale of the random weights where a circuit is built
SHARPNESS = (2.0, 1.5)  # of the queries and keys of the two layers
# Scale of the two layers' output, relative to an embedding of 1. With a larger one, the other layers learn slowly.
LOUDNESS = (1.5, 4.0)


def start(model):
    """Draws the weights of a `Qwen3`. At the start, only the circuit writes into the residual stream."""
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
    """Sets the student's initial weights: those of the teacher's `layers` that it keeps."""
    for part in ("embed_tokens", "norm"):
        getattr(model.model, part).load_state_dict(getattr(teacher.model, part).state_dict())
    for layer, number in zip(model.model.layers, layers, strict=True):
        layer.load_state_dict(teacher.model.layers[number].state_dict())


def orthogonal_parts(shape):
    """Returns four orthonormal bases, [size, hidden] each, without the first dimension. Two read a token's code. The codes of the last token
    and of the one before it are written into the other two."""
    size = min(shape.head_dim - 1, (shape.hidden - 1) // 4)
    basis = torch.linalg.qr(torch.randn(shape.hidden - 1, shape.hidden - 1))[0]
    basis = torch.cat([torch.zeros(shape.hidden - 1, 1), basis], dim=1)
    return basis[: 4 * size].split(size)


def turns(shape):
    """Returns the angle of each rotary pair, in radians per token."""
    pairs = torch.arange(0, shape.head_dim, 2, dtype=torch.float64)
    return (shape.rope_theta ** -(pairs / shape.head_dim)).float()


def head(weight, number, shape):
    """Returns the rows of one head in a projection's weight."""
    return weight.data[number * shape.head_dim : (number + 1) * shape.head_dim]


def quieten(attention, sharpness):
    for projection in (attention.q_proj, attention.k_proj):
        projection.weight.data.mul_(NOISE)
    attention.q_norm.weight.data.fill_(sharpness)
    attention.k_norm.weight.data.fill_(sharpness)


def look_back(attention, shape, parts):
    """Makes two heads attend one and two tokens back: their keys are constant, and their queries are constant and rotated by that distance."""
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
    """Makes all heads attend to a position whose preceding two tokens are the current two, and copy the token at that position."""
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
    """Loads the weights of an earlier exported model with the same shape and tokenizer."""
    model.load_state_dict(read_weights(folder))
