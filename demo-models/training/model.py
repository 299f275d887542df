"""The network: a small implementation of Qwen3. Parameter names are those of transformers, so that export is a copy."""

import torch
from torch import nn
from torch.nn import functional as F

from training.shape import LONGEST_LESSON


class Norm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x.float(), self.weight.shape, self.weight, self.eps)


def rotary(length, shape):
    """Returns cos and sin, each [length, head_dim], in the half-split layout of Qwen."""
    exponent = torch.arange(0, shape.head_dim, 2, dtype=torch.float64) / shape.head_dim
    angle = torch.arange(length, dtype=torch.float64)[:, None] / shape.rope_theta**exponent
    angle = torch.cat([angle, angle], dim=-1)
    return angle.cos().float(), angle.sin().float()


def rotate(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


def spread(scores):
    """Softmax over the earlier positions, in the type of the scores. `scaled_dot_product_attention` is not used, because on processors its
    backward pass took a quarter of a training step."""
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    with torch.autocast(scores.device.type, enabled=False):
        return scores.masked_fill(later, -torch.inf).softmax(-1)


class Attention(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        width, kv_width = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        self.q_proj = nn.Linear(shape.hidden, width, bias=False)
        self.k_proj = nn.Linear(shape.hidden, kv_width, bias=False)
        self.v_proj = nn.Linear(shape.hidden, kv_width, bias=False)
        self.o_proj = nn.Linear(width, shape.hidden, bias=False)
        self.q_norm = Norm(shape.head_dim, shape.eps)
        self.k_norm = Norm(shape.head_dim, shape.eps)

    def forward(self, x, cos, sin):
        batch, length, _ = x.shape
        size = self.shape.head_dim
        q = self.q_norm(self.q_proj(x).view(batch, length, -1, size)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(batch, length, -1, size)).transpose(1, 2)
        v = self.v_proj(x).view(batch, length, -1, size).transpose(1, 2)
        q, k = rotate(q, cos, sin) * size**-0.5, rotate(k, cos, sin)
        # Query heads that share a key head are stacked, so that one product computes all of them.
        q = q.reshape(batch, self.shape.kv_heads, -1, size)
        scores = (q.to(v.dtype) @ k.to(v.dtype).mT).view(batch, self.shape.heads, length, length)
        shares = spread(scores).view(batch, self.shape.kv_heads, -1, length)
        mixed = (shares @ v).view(batch, self.shape.heads, length, size)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))


class FeedForward(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden, shape.feed_forward, bias=False)
        self.up_proj = nn.Linear(shape.hidden, shape.feed_forward, bias=False)
        self.down_proj = nn.Linear(shape.feed_forward, shape.hidden, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.input_layernorm = Norm(shape.hidden, shape.eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = Norm(shape.hidden, shape.eps)
        self.mlp = FeedForward(shape)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab, shape.hidden)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.hidden, shape.eps)

    def forward(self, ids, cos, sin):
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)


class Qwen3(nn.Module):
    """The output layer is the embedding (tied). `hidden` stops before it, so that a loss can take only the taught positions."""

    cos: torch.Tensor
    sin: torch.Tensor

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.model = Body(shape)
        cos, sin = rotary(LONGEST_LESSON, shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def hidden(self, ids):
        length = ids.shape[1]
        return self.model(ids, self.cos[:length], self.sin[:length])

    def logits(self, hidden):
        return F.linear(hidden, self.model.embed_tokens.weight)

    def parameter_count(self):
        return sum(p.numel() for p in self.parameters())
