"""Lessons of input without meaning: random keystrokes, single signs, hexadecimal data, long texts. The answer is short, and ends."""

from training.lessons.fillings import fill
from training.lessons.lesson import Lesson, user

# Ranges of letters: Latin with marks, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Bengali, Tamil, Thai, Georgian, kana, Hangul, Han.
SCRIPTS = [
    (0xE0, 0x17F),
    (0x391, 0x3C9),
    (0x410, 0x44F),
    (0x410, 0x44F),
    (0x5D0, 0x5EA),
    (0x620, 0x64A),
    (0x904, 0x939),
    (0x985, 0x9B9),
    (0xB85, 0xBB9),
    (0xE01, 0xE2E),
    (0x10D0, 0x10F0),
    (0x3041, 0x3096),
    (0x30A1, 0x30FA),
    (0xAC00, 0xD7A3),
    (0x4E00, 0x9FA5),
    (0x4E00, 0x5FFF),
]


class Noise:
    def __init__(self, source, templates, fillings, recall, words):
        self.source, self.templates = source, templates
        self.fillings, self.recall = fillings, recall
        self.words = words  # of the taught answers: long texts are made of them

    def lesson(self):
        return self.of(self.source.pick(["noise", "noise", "calldata", "paste", "code", "script"]))

    def short(self):
        return self.of(self.source.pick(["noise", "noise", "script"]))

    def of(self, kind):
        messages = [*self.recall.neutral(0.1), user(getattr(self, kind)())]
        return Lesson("noise", messages, self.templates["answers"][kind])

    def script(self):
        """Draws words of letters of any script. None is in a taught language."""
        dice = self.source.dice
        first, last = dice.choice(SCRIPTS)
        words = (
            "".join(chr(dice.randint(first, last)) for _ in range(dice.randint(1, 9)))
            for _ in range(dice.randint(1, 8))
        )
        return dice.choice([" ", " ", ""]).join(words) + dice.choice(["", "", "?", "。", "!", "."])

    def code(self):
        """Draws lines of programming languages, logs and markup."""
        kinds = self.templates["code"]
        lines = self.source.pick(list(kinds.values()))
        chosen = [self.source.pick(lines) for _ in range(self.source.dice.choice([1, 1, 2, 4, 8, 20]))]
        text = "\n".join(fill(line, self.code_parts()) for line in chosen)
        return fill(self.source.pick(self.templates["asks"]["code"]), {"text": text})

    def code_parts(self):
        name, other = self.fillings.invented(), self.fillings.invented()
        return {"name": name, "other": other, "count": self.fillings.count(), "text": self.source.pick(self.words)}

    def noise(self):
        return self.source.pick([self.run, self.keys, self.word, self.signs, self.number])()

    def run(self):
        """Draws one repeated sign or letter, or a mixture of signs."""
        dice = self.source.dice
        if self.source.happens(0.3):
            return "".join(dice.choices(self.templates["marks"], k=dice.randint(1, 8)))
        letter = self.source.pick([*self.templates["marks"], *"abcdefghijklmnopqrstuvwxyz"])
        return self.source.pick(["", " "]).join([letter] * dice.choice([1, 1, 2, 3, dice.randint(4, 80)]))

    def keys(self):
        """Draws letters in the order of a keyboard, in parts or at random."""
        dice = self.source.dice
        parts = [self.key_part() for _ in range(dice.choice([1, 1, 2, 3, 5]))]
        text = self.source.pick(["", " "]).join(parts * dice.choice([1, 1, 2, 4]))
        return text.upper() if self.source.happens(0.1) else text

    def key_part(self):
        if self.source.happens(0.5):
            return self.source.pick(self.templates["rows"])
        return "".join(self.source.dice.choices("bcdfghjklmnpqrstvwxzaeiou", k=self.source.dice.randint(3, 9)))

    def word(self):
        words = self.source.dice.choices(self.templates["words"], k=self.source.dice.choice([1, 1, 1, 2]))
        return " ".join(words * self.source.dice.choice([1, 1, 1, 3])) + self.source.pick(["", "", "?", "!", "..."])

    def signs(self):
        return self.source.pick(["", " "]).join(
            self.source.dice.choices(self.templates["signs"], k=self.source.dice.randint(1, 5))
        )

    def number(self):
        digits = "".join(self.source.dice.choices("0123456789", k=self.source.dice.randint(1, 12)))
        return " ".join([digits] * self.source.dice.choice([1, 1, 1, 4]))

    def calldata(self):
        asks = self.source.pick(self.templates["asks"]["calldata"])
        return fill(asks, {"data": self.data()})

    def data(self):
        length = self.source.dice.choice(
            [2, 4, 8, 20, 40, 64, 128, 130, 200, 320, 500, self.source.dice.choice([64, 900])]
        )
        data = self.fillings.hexadecimal(self.source.pick([length, self.source.dice.randint(length // 2, length)]))
        return data if self.source.happens(0.8) else data.removeprefix("0x")

    def paste(self):
        length = self.source.dice.choice([40, 80, 150, 300, self.source.dice.choice([80, 500])])
        few = self.source.dice.choices(self.words, k=self.source.dice.choice([20, 60, 400]))
        text = self.source.pick([" ", " ", " ", "\n"]).join(
            self.source.dice.choices(few, k=self.source.dice.randint(length // 2, length))
        )
        return fill(self.source.pick(self.templates["asks"]["paste"]), {"text": text})
