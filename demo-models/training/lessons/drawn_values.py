"""Draws values of the parameters in the corpus: the user's words, and the argument of the call."""

import re

from training.lessons.fillings import NUMBERS, as_number

DIGITS = re.compile(r"\d")
OTHER_DIGITS_SHARE = 0.5  # of values with several digits
INVENTED_SHARE = 0.2  # of values of a parameter that takes any text


class DrawnValues:
    def __init__(self, source, fillings):
        self.source, self.fillings = source, fillings

    def draw(self, parameter):
        """Returns (the user's words, the argument). Texts and digits are often newly drawn, so that the model learns to copy."""
        form = next(form for form in FORMS if form in parameter)
        return getattr(self, form)(parameter[form])

    def values(self, texts):
        if self.source.happens(INVENTED_SHARE) and not any(DIGITS.search(text) for text in texts):
            text = self.invented(self.source.pick(texts))
        else:
            text = self.other_digits(self.source.pick(texts))
        return text, text

    def enum(self, texts):
        text = self.source.pick(texts)
        return text, text

    def said(self, meanings):
        words = self.source.pick(list(meanings))
        return words, meanings[words]

    def number(self, bounds):
        least, most = bounds
        number = self.source.dice.randint(int(least), int(most))
        return str(number), number

    def decimal(self, bounds):
        least, most = bounds
        number = round(self.source.dice.uniform(least, most), self.source.dice.choice([0, 1, 1, 2, 3]))
        number = int(number) if number == int(number) else number
        return str(number), number

    def kind(self, name):
        text = self.fillings.draw(name)
        return text, as_number(text) if name in NUMBERS else text

    def list(self, texts):
        chosen = self.source.dice.sample(texts, min(len(texts), self.source.dice.choice([2, 2, 3])))
        chosen = [self.other_digits(text) for text in chosen]
        return ", ".join(chosen[:-1]) + f" and {chosen[-1]}", chosen

    def invented(self, like):
        """Invents as many words as `like` has, at most three, with its capitals."""
        words = [
            self.fillings.invented(1, 3).capitalize() if word[:1].isupper() else self.fillings.invented(1, 3)
            for word in like.split()[:3]
        ]
        return " ".join(words)

    def other_digits(self, text):
        """Replaces the digits by the same number of others. A first digit that is not zero stays so."""
        if len(DIGITS.findall(text)) < 3 or not self.source.happens(OTHER_DIGITS_SHARE):
            return text
        return DIGITS.sub(lambda found: self.source.pick("123456789") if found[0] != "0" else "0", text)


FORMS = ("values", "enum", "said", "number", "decimal", "kind", "list")
