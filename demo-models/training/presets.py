"""All settings that differ between a small run and a big one. The scripts contain no sizes."""

from dataclasses import dataclass, replace
from pathlib import Path

from training.shape import Shape

VOCABULARY_SIZE = 4096


@dataclass(frozen=True)
class Schedule:
    """One training run: total tokens, tokens per batch, batches per step, peak rates, and the share of the run for warm-up."""

    tokens: int
    minutes: float = 1  # on two cores; the time limit of several runs is divided in these proportions
    seconds: float | None = None  # time limit, by which the rates reach their final values; None: no limit
    batch_tokens: int = 1024
    batches: int = 4  # of different lengths, and therefore of different kinds of lessons
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
    examine_every: int = 1  # 2: every other task of the examination
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
    """Returns False for a model that is trained only for comparison. It stays in the work folder."""
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
        # Larger steps would undo the student's initial weights.
        "model-1-mini": Schedule(tokens=10_000_000, minutes=36, matrix_rate=0.005, rate=1e-2),
        "model-1-mini-alone": Schedule(tokens=10_000_000, minutes=36),
    },
)


def shortened(preset, tokens):
    """Returns the preset with far less training and fewer tasks, to test the scripts, not the models."""
    schedules = {name: replace(plan, tokens=tokens) for name, plan in preset.schedules.items()}
    return replace(preset, schedules=schedules, examine_every=40)


def going_on(preset, folder):
    """Returns the preset for both models to continue from earlier ones. It has smaller steps, because larger ones undo earlier learning."""
    schedules = {
        name: replace(plan, tokens=min(plan.tokens, 20_000_000), matrix_rate=0.005, rate=8e-3, warm_up=0.01)
        for name, plan in preset.schedules.items()
    }
    return replace(preset, schedules=schedules, start=folder)


def within(preset, minutes):
    """Returns the preset with a time limit: the runs of the shipped models together end after `minutes`."""
    shipped = sum(plan.minutes for name, plan in preset.schedules.items() if is_shipped(name))
    schedules = {
        name: replace(plan, seconds=60 * minutes * plan.minutes / shipped) for name, plan in preset.schedules.items()
    }
    return replace(preset, schedules=schedules)


PRESETS = {"cpu": CPU, "smoke": shortened(CPU, 50_000)}
