import os
import resource
import signal
import tempfile
import unittest
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy
import torch

from training.model import Qwen3
from training.presets import CPU, Schedule
from training.train import CURVE_STEPS, Run

SHAPE = replace(CPU.shapes["model-1-mini"], hidden=64, layers=2)
PRESET = replace(CPU, threads=1, shapes={"tiny": SHAPE}, schedules={"tiny": Schedule(tokens=1)})
STEPS = 2 * CURVE_STEPS
INTERRUPTED_AT = CURVE_STEPS + 5  # between two points of the curve, so that a checkpoint has to keep those five steps


def plan_of(seed, steps=STEPS):
    dice = numpy.random.default_rng(seed)
    return [[[(dice.integers(0, 512, 12, dtype=numpy.int32), numpy.ones(12, dtype=bool))]] for _ in range(steps)]


class Interrupted(Run):
    """Gets a signal during a step, like Ctrl-C in a terminal."""

    def advance(self):
        if self.step == INTERRUPTED_AT - 1:
            os.kill(os.getpid(), signal.SIGINT)
        return super().advance()


@contextmanager
def full_disk():
    """Limits files to one page, like a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


class TrainTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def interrupt(self):
        with self.assertRaises(SystemExit) as stopped:
            Interrupted(PRESET, "tiny", plan_of(1), self.folder).finish()
        self.assertEqual(stopped.exception.code, 128 + signal.SIGINT)

    def test_a_run_ends_when_its_time_is_over_and_is_not_begun_again(self):
        schedule = Schedule(tokens=1, seconds=1e-6)
        preset = replace(PRESET, schedules={"tiny": schedule})
        first = Run(preset, "tiny", plan_of(1), self.folder)
        first.finish()
        self.assertEqual(first.step, 1)
        again = Run(preset, "tiny", plan_of(1), self.folder)
        again.finish()
        self.assertEqual(again.step, 1)
        longer = Run(PRESET, "tiny", plan_of(1), self.folder)
        longer.finish()
        self.assertEqual(longer.step, STEPS)

    def test_an_interrupted_training_ends_as_one_that_was_not(self):
        with tempfile.TemporaryDirectory() as other:
            whole = Run(PRESET, "tiny", plan_of(1), Path(other))
            whole.finish()
        self.interrupt()
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        self.assertEqual(handlers, [signal.default_int_handler, signal.SIG_DFL])
        resumed = Run(PRESET, "tiny", plan_of(1), self.folder)
        self.assertEqual(resumed.step, INTERRUPTED_AT)
        resumed.finish()
        self.assertEqual([step for step, _ in whole.curve], [CURVE_STEPS, STEPS])
        self.assertEqual(resumed.curve, whole.curve)
        for name, weight in whole.model.state_dict().items():
            self.assertTrue(torch.equal(resumed.model.state_dict()[name], weight), name)

    def test_a_checkpoint_of_another_training_is_not_gone_on_with(self):
        self.interrupt()
        slower = replace(PRESET, schedules={"tiny": Schedule(tokens=1, rate=1e-3)})
        wider = replace(PRESET, shapes={"tiny": replace(SHAPE, hidden=128)})
        for preset, plan in ((PRESET, plan_of(2)), (slower, plan_of(1)), (wider, plan_of(1))):
            with self.assertRaisesRegex(SystemExit, "tiny.pt is the checkpoint of another training: .* --work"):
                Run(preset, "tiny", plan, self.folder)

    def test_nor_is_one_of_another_teacher(self):
        preset = replace(PRESET, kept_layers=(0, 1))
        first, second = Qwen3(SHAPE), Qwen3(SHAPE)
        Run(preset, "tiny", plan_of(1), self.folder, teacher=first).save()
        self.assertEqual(Run(preset, "tiny", plan_of(1), self.folder, teacher=first).step, 0)
        with self.assertRaisesRegex(SystemExit, "tiny.pt is the checkpoint of another training"):
            Run(preset, "tiny", plan_of(1), self.folder, teacher=second)

    def test_a_full_disk_leaves_the_last_checkpoint_whole(self):
        self.interrupt()
        run = Run(PRESET, "tiny", plan_of(1), self.folder)
        run.advance()
        with full_disk(), self.assertRaisesRegex(SystemExit, "tiny.pt: File too large. Make room"):
            run.save()
        self.assertEqual([file.name for file in self.folder.iterdir()], ["tiny.pt"])
        self.assertEqual(Run(PRESET, "tiny", plan_of(1), self.folder).step, INTERRUPTED_AT)


if __name__ == "__main__":
    unittest.main()
