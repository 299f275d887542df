import random
import re
import unittest
from pathlib import Path

from training.byte_pairs import BLANK
from training.chat import CONTROL_TOKENS, MARK_TOKENS
from training.tokenizer import load_tokenizer

ROOT = Path(__file__).resolve().parents[2]


class TokenizerTest(unittest.TestCase):
    def setUp(self):
        self.tokenizer = load_tokenizer(ROOT / "model-1" / "tokenizer.json")

    def tokens(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).tokens

    def test_both_models_share_one_tokenizer(self):
        first, second = (ROOT / name / "tokenizer.json" for name in ("model-1", "model-1-mini"))
        self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_every_character_of_an_address_is_one_token(self):
        dice = random.Random(3)
        frames = ["{}", '"{}"', "to {}.", "({})", "{},", "Send 5 ETH to {} on Base", '{{"address": "{}"}}']
        for _ in range(500):
            digits = "".join(dice.choice("0123456789abcdefABCDEF") for _ in range(dice.choice([40, 64])))
            text = dice.choice(frames).format(f"0x{digits}")
            tokens = self.tokens(text)
            start = tokens.index("x") - 1
            self.assertEqual(tokens[start : start + 2 + len(digits)], ["0", "x", *digits], text)

    def test_a_name_has_the_same_tokens_after_a_blank_and_after_a_quote(self):
        for name in ["romerti.eth", "pevapa.base.eth", "USDC", "Rocket Pool", "zu.xyz"]:
            quote, *quoted = self.tokens(f'"{name}')
            first, *rest = self.tokens(f" {name}")
            self.assertEqual(quote, '"')
            self.assertEqual([first.removeprefix(BLANK), *rest] if first != BLANK else rest, quoted, name)

    def test_no_token_joins_hexadecimal_letters(self):
        joined = [t for t in self.tokenizer.get_vocab() if re.fullmatch(r"x?[0-9a-fA-F]{2,}|x[0-9a-fA-F]", t)]
        self.assertEqual(joined, [])

    def test_any_text_survives(self):
        for text in ["", " a  b\n\n\tc ", "👩‍👩‍👧‍👦 漢字 مرحبا", "e\u0301 ﬁ ½", "\x00\x1b"]:
            ids = self.tokenizer.encode(text, add_special_tokens=False).ids
            self.assertEqual(self.tokenizer.decode(ids, skip_special_tokens=False), text)

    def test_the_marks_of_the_template_are_single_tokens(self):
        for mark in CONTROL_TOKENS + MARK_TOKENS:
            self.assertEqual(self.tokens(mark), [mark])


if __name__ == "__main__":
    unittest.main()
