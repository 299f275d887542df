import json
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import torch
from torch.optim import Muon as TorchMuon

from training.model import Qwen3
from training.muon import Muon, orthogonalised
from training.presets import CPU, going_on
from training.shape import Shape
from training.train import Run
from training.weights import read_weights

ROOT = Path(__file__).resolve().parents[2]


class MuonTest(unittest.TestCase):
    def test_singular_values_become_about_one(self):
        torch.manual_seed(1)
        for rows, columns in ((64, 64), (192, 64), (64, 192)):
            values = torch.linalg.svdvals(orthogonalised(torch.randn(rows, columns), torch.float32))
            self.assertGreater(values.min(), 0.3)
            self.assertLess(values.max(), 1.5)

    def test_steps_as_the_optimizer_of_torch(self):
        torch.manual_seed(1)
        weight = torch.randn(96, 32)
        ours, theirs = (torch.nn.Parameter(weight.clone()) for _ in range(2))
        settings = {"lr": 0.1, "momentum": 0.95, "weight_decay": 0.01}
        optimizers = Muon([ours], **settings, dtype=torch.float32), TorchMuon([theirs], **settings)
        for _ in range(3):
            slope = torch.randn(96, 32)
            for weight, optimizer in zip((ours, theirs), optimizers, strict=True):
                weight.grad = slope.clone()
                optimizer.step()
        torch.testing.assert_close(ours, theirs, atol=0.02, rtol=0.02)


class GoingOnTest(unittest.TestCase):
    def test_a_run_starts_from_the_exported_weights(self):
        config = json.loads((ROOT / "model-1-mini" / "config.json").read_text(encoding="utf-8"))
        preset = replace(going_on(CPU, ROOT), shapes={"model-1-mini": Shape.from_config(config)}, products="float32")
        with tempfile.TemporaryDirectory() as folder:
            run = Run(preset, "model-1-mini", [], Path(folder))
        self.assertIsInstance(run.model, Qwen3)
        exported = read_weights(ROOT / "model-1-mini")
        for name, weight in run.model.state_dict().items():
            torch.testing.assert_close(weight, exported[name].float())


if __name__ == "__main__":
    unittest.main()
