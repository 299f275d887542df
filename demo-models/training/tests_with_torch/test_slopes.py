import multiprocessing
import unittest
from dataclasses import replace

import numpy
import torch

from training.model import Qwen3
from training.presets import CPU
from training.slopes import Slopes

SHAPE = replace(CPU.shapes["model-1-mini"], hidden=64, layers=2)


def groups_of(seed, count):
    dice = numpy.random.default_rng(seed)
    return [[(dice.integers(0, 512, 12, dtype=numpy.int32), numpy.ones(12, dtype=bool))] for _ in range(count)]


def slopes_of(threads, groups, teacher=None):
    torch.manual_seed(1)
    preset = replace(CPU, threads=threads, products="float32", shapes={"tiny": SHAPE})
    slopes = Slopes(Qwen3(SHAPE), teacher, preset)
    try:
        return slopes.of(groups)
    finally:
        slopes.close()


class SlopesTest(unittest.TestCase):
    def test_two_processes_give_the_gradients_of_one(self):
        groups = groups_of(1, 4)
        torch.manual_seed(2)
        for teacher in (None, Qwen3(SHAPE)):
            losses, one = slopes_of(1, groups, teacher)
            losses_of_two, two = slopes_of(2, groups, teacher)
            self.assertAlmostEqual(sum(losses), sum(losses_of_two), places=4)
            for left, right in zip(one, two, strict=True):
                self.assertTrue(torch.allclose(left, right, atol=1e-6))

    def test_a_step_with_fewer_batches_than_processes_is_whole(self):
        groups = groups_of(1, 1)
        for left, right in zip(slopes_of(1, groups)[1], slopes_of(2, groups)[1], strict=True):
            self.assertTrue(torch.allclose(left, right, atol=1e-6))

    def test_a_process_that_is_killed_ends_the_training_with_a_sentence(self):
        slopes = Slopes(Qwen3(SHAPE), None, replace(CPU, threads=2, products="float32", shapes={"tiny": SHAPE}))
        for process in multiprocessing.active_children():
            process.kill()
            process.join()
        with self.assertRaisesRegex(SystemExit, "goes on from the last checkpoint"):
            slopes.of(groups_of(1, 2))


if __name__ == "__main__":
    unittest.main()
