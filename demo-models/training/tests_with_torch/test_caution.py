import tempfile
import unittest
from pathlib import Path

import torch

from training.caution import CALL, beginnings, lessons_with_functions, make_cautious
from training.lessons.rounds import Corpus
from training.model import Qwen3
from training.presets import CPU, VOCABULARY_SIZE
from training.tokenizer import load_tokenizer, tokenizer_json, write_json

STRENGTH = 3.0


class CautionTest(unittest.TestCase):
    def test_a_call_loses_as_much_everywhere_and_no_other_token_moves(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tokenizer.json"
            write_json(file, tokenizer_json([], VOCABULARY_SIZE))
            tokenizer = load_tokenizer(file)
        torch.manual_seed(1)
        corpus, model = Corpus(), Qwen3(CPU.shapes["model-1-mini"]).eval()
        lessons = lessons_with_functions(corpus, CPU.seed)[::40]
        states = beginnings(model, tokenizer, lessons)
        before = model.logits(states).detach()
        make_cautious(model, tokenizer, corpus, CPU.seed, STRENGTH)
        moved = before - model.logits(states).detach()
        call = tokenizer.token_to_id(CALL)
        self.assertLess((moved[:, call] - STRENGTH).abs().max().item(), STRENGTH / 4)
        moved[:, call] = 0
        self.assertEqual(moved.abs().max().item(), 0)


if __name__ == "__main__":
    unittest.main()
