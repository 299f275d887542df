import filecmp
import json
import tempfile
import unittest
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from training.crosscheck import template_cases
from training.export import export_model
from training.model import Qwen3
from training.shape import Shape
from training.weights import ensure_safetensors, read_weights

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("model-1", "model-1-mini")


def shape_of(name):
    """Returns the shape of an exported model, from its configuration."""
    config = json.loads((ROOT / name / "config.json").read_text(encoding="utf-8"))
    return Shape.from_config(config)


class ModelsTest(unittest.TestCase):
    def test_exporting_again_gives_the_same_bytes(self):
        for name in NAMES:
            merges = json.loads((ROOT / name / "tokenizer.json").read_text(encoding="utf-8"))["model"]["merges"]
            state = read_weights(ROOT / name)
            with tempfile.TemporaryDirectory() as folder:
                ensure_safetensors(ROOT / name)
                export_model(Path(folder), name, shape_of(name), state, [tuple(pair) for pair in merges])
                files = [path.name for path in Path(folder).iterdir()]
                same, different, missing = filecmp.cmpfiles(folder, ROOT / name, files, shallow=False)
                self.assertEqual((sorted(same), different, missing), (sorted(files), [], []))

    def test_our_network_is_that_of_transformers(self):
        ids = torch.arange(1, 400)[None]
        for name in NAMES:
            ours = Qwen3(shape_of(name))
            ours.load_state_dict({k: v.float() for k, v in read_weights(ROOT / name).items()})
            ensure_safetensors(ROOT / name)
            theirs = AutoModelForCausalLM.from_pretrained(ROOT / name, dtype=torch.float32)
            with torch.inference_mode():
                torch.testing.assert_close(ours.logits(ours.hidden(ids)), theirs(ids).logits, atol=2e-3, rtol=1e-3)

    def test_the_template_renders_alike_in_training_and_in_transformers(self):
        self.assertGreater(len(list(template_cases(AutoTokenizer.from_pretrained(ROOT / "model-1")))), 20)

    def test_the_generation_prompt_switches_thinking(self):
        tokenizer = AutoTokenizer.from_pretrained(ROOT / "model-1")
        options = {"tokenize": False, "add_generation_prompt": True}
        messages = [{"role": "user", "content": "Hi"}]
        start = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
        self.assertEqual(tokenizer.apply_chat_template(messages, **options), f"{start}<think>\n\n</think>\n\n")
        self.assertEqual(tokenizer.apply_chat_template(messages, enable_thinking=True, **options), start)

    def test_the_cards_say_the_size_of_the_models(self):
        for name in NAMES:
            card = (ROOT / name / "README.md").read_text(encoding="utf-8")
            millions = Qwen3(shape_of(name)).parameter_count() / 1e6
            self.assertIn(f"{millions:.{1 if millions > 1 else 2}f} million parameters", card)
            self.assertIn(f"{shape_of(name).kv_bytes_per_token} bytes per token", card)
            self.assertIn("It is not the operator's", card.replace("\n", " "))


if __name__ == "__main__":
    unittest.main()
