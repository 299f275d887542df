"""Draws the fillings of template slots: addresses, amounts, names."""

import re

HEX = "0123456789abcdef"
NUMBERS = {"amount", "block", "count"}
INVENTED_SHARE = 0.2  # of chains and tokens, so that the model reads them instead of memorising them
SLOT = re.compile(r"{(\w+)}")


def singular(plural):
    return plural.removesuffix("ies") + "y" if plural.endswith("ies") else plural.removesuffix("s")


def slots_of(text):
    return SLOT.findall(text)


def fill(text, values):
    return SLOT.sub(lambda found: str(values.get(found[1], found[0])), text)


class Fillings:
    def __init__(self, source, words):
        self.source, self.words = source, words
        plurals = ["tokens", "chains", "protocols", "daos", "currencies", "cities", "choices", "phrases"]
        self.lists = {singular(name): words[name] for name in plurals}

    def draw(self, kind):
        if kind == "chain" and self.source.happens(INVENTED_SHARE):
            return self.invented(2, 3).capitalize()
        if kind == "token" and self.source.happens(INVENTED_SHARE):
            return self.invented(1, 2).upper()
        if kind in self.lists:
            return self.source.pick(self.lists[kind])
        return getattr(self, kind)()

    def hexadecimal(self, length):
        digits = "".join(self.source.pick(HEX) for _ in range(length))
        if self.source.happens(0.4):  # the look of a checksum
            digits = "".join(self.source.pick((c, c.upper())) for c in digits)
        return f"0x{digits}"

    def address(self):
        return self.name() if self.source.happens(0.12) else self.hexadecimal(40)

    def hash(self):
        return self.hexadecimal(64)

    def invented(self, least=1, most=3):
        count = self.source.dice.randint(least, most)
        return "".join(self.source.pick(self.words["syllables"]) for _ in range(count))

    def name(self):
        return self.invented() + self.source.pick(self.words["name_endings"])

    def project(self):
        return self.invented(2, 3).capitalize() + self.source.pick(["", "", "Swap", "Coin", "DAO", " Finance", "X"])

    def amount(self):
        whole = str(self.source.dice.randint(0, 10 ** self.source.dice.randint(1, 5)))
        if self.source.happens(0.5):
            return whole if whole != "0" else "1"
        decimals = "".join(self.source.pick("0123456789") for _ in range(self.source.dice.randint(0, 2)))
        return f"{whole}.{decimals}{self.source.pick('123456789')}"

    def block(self):
        return str(self.source.dice.randint(10_000, 29_999_999))

    def count(self):
        return str(self.source.dice.randint(1, 999))


def as_number(text):
    return float(text) if "." in text else int(text)
