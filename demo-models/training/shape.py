"""The size of a network, for scripts that neither train nor run it."""

from dataclasses import dataclass

LONGEST_LESSON = 2048  # tokens; the exported model supports its whole context


@dataclass(frozen=True)
class Shape:
    """The size of one model. The KV cache costs `layers * kv_heads * head_dim * 4` bytes per token in bf16."""

    vocab: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    feed_forward: int
    rope_theta: float = 1_000_000.0
    eps: float = 1e-6
    context: int = 32768

    @classmethod
    def from_config(cls, config):
        """Reads the shape from a `config.json` of transformers."""
        return cls(
            vocab=config["vocab_size"],
            hidden=config["hidden_size"],
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            kv_heads=config["num_key_value_heads"],
            head_dim=config["head_dim"],
            feed_forward=config["intermediate_size"],
            rope_theta=config["rope_theta"],
            eps=config["rms_norm_eps"],
            context=config["max_position_embeddings"],
        )

    @property
    def kv_bytes_per_token(self):
        return self.layers * self.kv_heads * self.head_dim * 2 * 2
