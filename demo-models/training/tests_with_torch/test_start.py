import unittest
from dataclasses import replace

import torch

from training.model import Qwen3
from training.presets import CPU
from training.start import start, start_from


def repeated(length, count, seed):
    """Returns [count, 2 * length] ids: random tokens, repeated once."""
    once = torch.randint(300, 4000, (count, length), generator=torch.Generator().manual_seed(seed))
    return torch.cat([once, once], dim=1)


# A changed shape in the presets gets the same start.
OTHERS = {
    "a key head for every head": replace(CPU.shapes["model-1"], kv_heads=4),
    "wider": replace(CPU.shapes["model-1"], hidden=384, heads=6, kv_heads=2),
}


class StartTest(unittest.TestCase):
    def test_an_untrained_network_copies(self):
        for name, shape in {**CPU.shapes, **OTHERS}.items():
            torch.manual_seed(5)
            network = Qwen3(shape).eval()
            start(network)
            for length in (8, 40, 150):
                ids = repeated(length, 8, seed=length)
                with torch.inference_mode():
                    logits = network.logits(network.hidden(ids))
                # The output layer is the embedding, so before training the current token always has the highest logit.
                said = logits.scatter(-1, ids[..., None], -torch.inf).argmax(-1)
                # From the second repeated token on, because nothing predicts the first.
                right = (said[:, length:-1] == ids[:, length + 1 :]).float().mean().item()
                self.assertGreater(right, 0.7, f"{name}, {length} tokens")
                unseen = (said[:, : length - 1] == ids[:, 1:length]).float().mean().item()
                self.assertLess(unseen, 0.1, f"{name}, {length} tokens")

    def test_a_student_starts_from_the_layers_that_it_keeps(self):
        torch.manual_seed(5)
        teacher = Qwen3(replace(CPU.shapes["model-1"], layers=4)).eval()
        student = Qwen3(replace(teacher.shape, layers=2)).eval()
        start_from(student, teacher, (0, 3))
        teacher.model.layers = torch.nn.ModuleList([teacher.model.layers[0], teacher.model.layers[3]])
        ids = repeated(8, 1, seed=1)
        with torch.inference_mode():
            torch.testing.assert_close(student.hidden(ids), teacher.hidden(ids))

    def test_a_narrow_network_starts_too(self):
        network = Qwen3(replace(CPU.shapes["model-1-mini"], hidden=64)).eval()
        start(network)
        with torch.inference_mode():
            self.assertTrue(network.hidden(repeated(8, 1, seed=1)).isfinite().all())


if __name__ == "__main__":
    unittest.main()
