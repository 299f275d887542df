"""Everything that differs between a small run and a big one. Scripts name no sizes of their own."""

from dataclasses import dataclass, replace
from pathlib import Path

from training.shape import Shape

VOCABULARY_SIZE = 4096


@dataclass(frozen=True)
class Schedule:
    """One training run: tokens read in all, tokens per batch, batches per step, peak rates, and the share of the run that warms up."""

    tokens: int
    minutes: float = 1  # that it takes on two cores: how the time of several runs is shared out
    seconds: float | None = None  # after which it ends before its tokens are read; its rates fall to their end by then
    batch_tokens: int = 1024
    batches: int = 4  # of different lengths, and so of different kinds of lessons
    matrix_rate: float = 0.01  # of Muon
    rate: float = 2e-2  # of AdamW: the embedding and the norms
    warm_up: float = 0.03
    weight_decay: float = 0.01


@dataclass(frozen=True)
class Preset:
    seed: int
    threads: int
    device: str
    shapes: dict
    schedules: dict
    examine_every: int = 1  # of the examination's tasks: 2 is every other one
    distil_share: float = 0.7  # of the student's loss: the distance to the teacher
    kept_layers: tuple = (0, 1, 5)  # of the teacher: the student starts from them
    products: str = (
        "bfloat16"  # the type of the products of matrices; float32 where the processor lacks instructions for the other
    )
    caution: float = 0  # nats that the first token of a call loses at the export (`caution.py`)
    start: Path | None = (
        None  # a folder of models that were exported earlier: both go on from theirs, with their tokenizer
    )


def is_shipped(name):
    """A model that is trained for comparison alone stays in the work folder."""
    return not name.endswith("-alone")


MODEL_1 = Shape(VOCABULARY_SIZE, hidden=256, layers=6, heads=4, kv_heads=2, head_dim=64, feed_forward=768)
MODEL_1_MINI = replace(MODEL_1, layers=3)

CPU = Preset(
    seed=20250101,
    threads=2,
    device="cpu",
    shapes={"model-1": MODEL_1, "model-1-mini": MODEL_1_MINI},
    schedules={
        "model-1": Schedule(tokens=26_000_000, minutes=60),
        # Wider steps undo what the student starts from.
        "model-1-mini": Schedule(tokens=10_000_000, minutes=36, matrix_rate=0.005, rate=1e-2),
        "model-1-mini-alone": Schedule(tokens=10_000_000, minutes=36),
    },
)


def shortened(preset, tokens):
    """The same path with far less training and fewer tasks: to try the scripts, not the models."""
    schedules = {name: replace(plan, tokens=tokens) for name, plan in preset.schedules.items()}
    return replace(preset, schedules=schedules, examine_every=40)


def going_on(preset, folder):
    """Both models go on from earlier ones. Steps as wide as those of a beginning would undo what they know."""
    schedules = {
        name: replace(plan, tokens=min(plan.tokens, 20_000_000), matrix_rate=0.005, rate=8e-3, warm_up=0.01)
        for name, plan in preset.schedules.items()
    }
    return replace(preset, schedules=schedules, start=folder)


def within(preset, minutes):
    """The same runs, where those of the shipped models end after so many minutes together."""
    shipped = sum(plan.minutes for name, plan in preset.schedules.items() if is_shipped(name))
    schedules = {
        name: replace(plan, seconds=60 * minutes * plan.minutes / shipped) for name, plan in preset.schedules.items()
    }
    return replace(preset, schedules=schedules)


PRESETS = {"cpu": CPU, "smoke": shortened(CPU, 50_000)}
