"""Trains one model, with a loss only on the taught tokens and checkpoints to resume from.

Muon trains the matrices and AdamW the rest: at this size that needs a third of the tokens that AdamW alone needs.
Matrix products use the preset's type; weights and optimizers stay in float32.
Each core works on its own batch (`slopes.py`): at this size that is faster than all cores on one batch.
"""

import hashlib
import io
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import torch
from tqdm import tqdm

from training.model import Qwen3
from training.muon import Muon
from training.slopes import Slopes
from training.start import start, start_from, start_from_export

CHECKPOINT_SECONDS = 60
CURVE_STEPS = 25
LOWEST_PACE = 1 / 50  # share of the peak rate at the end of a run


def pace_at(done, warm_up):
    """Returns the share of the peak rate when the share `done` of a run is over: a short warm-up, then a square decay to a fiftieth. With a
    cosine schedule the loss stood still in the first half, and halved within 260 steps at a quarter of the rate."""
    if done < warm_up:
        return max(LOWEST_PACE, done / warm_up)
    return LOWEST_PACE + (1 - LOWEST_PACE) * ((1 - done) / (1 - warm_up)) ** 2


def make_optimizers(model, schedule, dtype):
    inner = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    outer = [p for name, p in model.named_parameters() if p.ndim == 1 or "embed" in name]
    halves = (inner[::2], inner[1::2])  # for two cores
    return [
        *(
            Muon(half, schedule.matrix_rate, momentum=0.95, weight_decay=schedule.weight_decay, dtype=dtype)
            for half in halves
        ),
        torch.optim.AdamW(outer, lr=schedule.rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]


def digest_of(plan, recipe, teacher):
    """Identifies a training by a digest of its recipe, its teacher, and its input in order."""
    digest = hashlib.sha256(repr(recipe).encode())
    for weight in teacher.parameters() if teacher is not None else ():
        digest.update(weight.numpy(force=True))
    for ids, taught in (lesson for groups in plan for group in groups for lesson in group):
        digest.update(ids)
        digest.update(taught)
    return digest.hexdigest()


@contextmanager
def kept_signals():
    """Collects the stop signals received so far. The second signal of a kind has its usual effect."""
    came, before = [], {}

    def keep(number, _):
        came.append(number)
        signal.signal(number, before[number])

    before.update({number: signal.signal(number, keep) for number in (signal.SIGINT, signal.SIGTERM)})
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Run:
    """One training run and its folder on disk. A restarted run continues where it stopped.
    Raises SystemExit for a checkpoint of another training."""

    def __init__(self, preset, name, plan, folder, teacher=None, label=None):
        torch.manual_seed(preset.seed)
        self.preset, self.schedule = preset, preset.schedules[label or name]
        self.model = Qwen3(preset.shapes[name])
        if preset.start:
            start_from_export(self.model, preset.start / name)
        elif teacher is None:
            start(self.model)
        else:
            start_from(self.model, teacher, preset.kept_layers)
        self.model.to(preset.device)
        self.weights = list(self.model.parameters())
        self.workers = ThreadPoolExecutor(preset.threads, initializer=lambda: torch.set_num_threads(1))
        self.optimizers = make_optimizers(self.model, self.schedule, getattr(torch, preset.products))
        self.peaks = [[group["lr"] for group in optimizer.param_groups] for optimizer in self.optimizers]
        self.plan = plan
        schedule = replace(self.schedule, seconds=None)  # a run may continue with another time limit
        recipe = (preset.seed, preset.shapes[name], schedule, preset.distil_share, preset.kept_layers)
        self.digest = digest_of(plan, recipe, teacher)
        self.steps, self.step, self.seconds = len(plan), 0, 0.0
        self.curve, self.losses = [], []  # means of `CURVE_STEPS` steps; the steps since the last of them
        self.file, self.label = folder / f"{label or name}.pt", label or name
        if self.file.exists():
            self.resume()
        torch.set_num_threads(1)
        self.slopes = Slopes(self.model, teacher, preset)

    def resume(self):
        saved = torch.load(self.file, weights_only=False)
        if saved.get("digest") != self.digest:
            raise SystemExit(
                f"{self.file} is the checkpoint of another training: the corpus, the tokenizer, the preset or the teacher has changed since. "
                "Delete the folder to begin anew, or name another one by --work."
            )
        self.model.load_state_dict(saved["model"])
        for optimizer, state in zip(self.optimizers, saved["optimizers"], strict=True):
            optimizer.load_state_dict(state)
        self.step, self.seconds = saved["step"], saved["seconds"]
        self.curve, self.losses = saved["curve"], saved["losses"]

    def save(self):
        """Writes a checkpoint. If the disk is full, raises SystemExit and keeps the last checkpoint."""
        state = {"model": self.model.state_dict(), "optimizers": [o.state_dict() for o in self.optimizers]}
        place = {
            "step": self.step,
            "seconds": self.seconds,
            "curve": self.curve,
            "losses": self.losses,
            "digest": self.digest,
        }
        written = io.BytesIO()  # torch's own writer hides the cause of an error
        torch.save({**state, **place}, written)
        partial = self.file.with_suffix(".partial")
        try:
            partial.write_bytes(written.getbuffer())
        except OSError as failure:
            partial.unlink(missing_ok=True)
            raise SystemExit(
                f"{self.file}: {failure.strerror}. Make room: the same command goes on from the last checkpoint."
            ) from failure
        partial.replace(self.file)

    @property
    def done(self):
        """Returns the share of the run that is over, by steps or by time."""
        by_time = self.seconds / self.schedule.seconds if self.schedule.seconds else 0
        return min(1, max(self.step / self.steps, by_time))

    def advance(self):
        pace = pace_at(self.done, self.schedule.warm_up)
        losses, slopes = self.slopes.of(self.plan[self.step])
        for weight, slope in zip(self.weights, slopes, strict=True):
            weight.grad = slope
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        for optimizer, peaks in zip(self.optimizers, self.peaks, strict=True):
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = peak * pace
        list(self.workers.map(lambda optimizer: optimizer.step(), self.optimizers))
        self.step += 1
        return sum(losses) / len(losses)

    def finish(self):
        """Trains to the end and returns the model; `seconds` counts all parts of an interrupted run.
        Ctrl-C ends it after the current step, with a checkpoint and SystemExit."""
        bar = tqdm(total=self.steps, initial=self.step, desc=self.label, mininterval=10)
        saved = time.monotonic()
        with kept_signals() as signals:
            while self.done < 1 and not signals:
                started = time.monotonic()
                self.losses.append(self.advance())
                self.seconds += time.monotonic() - started
                bar.update()
                if len(self.losses) == CURVE_STEPS:
                    mean = sum(self.losses) / CURVE_STEPS
                    self.curve.append((self.step, round(mean, 4)))
                    bar.set_postfix(loss=f"{mean:.3f}", refresh=False)
                    self.losses = []
                if time.monotonic() - saved > CHECKPOINT_SECONDS:
                    self.save()
                    saved = time.monotonic()
            bar.close()
            self.save()
        self.slopes.close()
        if signals:
            print(
                f"{self.label}: stopped at step {self.step} of {self.steps}, and kept: the same command goes on from here",
                file=sys.stderr,
            )
            raise SystemExit(128 + signals[0])
        return self.model.eval()
