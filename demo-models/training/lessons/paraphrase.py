"""Rewords questions with the lists of `corpus/templates/paraphrase.yaml`."""

import re


class Paraphrase:
    def __init__(self, source, words):
        self.source, self.words = source, words
        self.small = set(words["small_words"])

    def vary(self, ask):
        """Rewords a taught question; sometimes returns it unchanged."""
        source = self.source
        if source.happens(0.3):
            return ask
        if source.happens(0.4):
            ask = self.exchange(ask)
        if source.happens(0.15):
            ask = self.thin_out(ask)
        if source.happens(0.2):
            ask = ask.lower()
        if source.happens(0.2):
            ask = ask.rstrip("?.")
        if source.happens(0.25):
            return self.roughen(ask)
        if source.happens(0.12):
            ask = source.pick(self.words["before"]) + ask
        if source.happens(0.12):
            ask = ask + source.pick(self.words["after"])
        return ask

    def roughen(self, text):
        """Imitates typing in a hurry: lower case, no final punctuation, short forms, letters swapped, left out or doubled."""
        for whole, short in self.words["short_forms"].items():
            if self.source.happens(0.5):
                text = re.sub(
                    rf"\b{whole}\b", lambda _, short=short: self.source.pick(short), text, flags=re.IGNORECASE
                )
        words = text.lower().rstrip("?.!").split(" ")
        for _ in range(self.source.dice.choice([0, 1, 1, 2, 3])):
            at = self.source.dice.randrange(len(words))
            words[at] = self.mistype(words[at])
        return " ".join(words)

    def mistype(self, word):
        if len(word) < 4 or not word.isalpha():
            return word
        at = self.source.dice.randrange(1, len(word) - 1)
        before, one, other, after = word[:at], word[at], word[at + 1], word[at + 2 :]
        slip = self.source.pick(
            [other + one, one, other, one + one + other, one + other + other, self.by_ear(one) + other]
        )
        return before + slip + after

    def by_ear(self, letter):
        """Draws a letter that sounds like this one."""
        for group in ("aeiou", "ckq", "szx", "iy", "fv", "dt", "bp", "gj"):
            if letter in group:
                return self.source.pick(group)
        return letter

    def has_frame(self, facet):
        return facet in self.words["frames"]

    def frame(self, facet, name):
        bare = without_article(name)
        asked = self.source.pick(self.words["frames"][facet]).format(name=name, bare=bare, plural=plural_of(name))
        return asked[:1].upper() + asked[1:]

    def exchange(self, ask):
        for group in self.words["synonyms"]:
            for phrase in group:
                pattern = re.compile(rf"\b{re.escape(phrase)}\b", re.IGNORECASE)
                if pattern.search(ask) and self.source.happens(0.6):
                    ask = pattern.sub(self.source.pick(group), ask, count=1)
                    break
        return ask[:1].upper() + ask[1:]

    def thin_out(self, ask):
        kept = [w for w in ask.split() if w.lower() not in self.small or self.source.happens(0.4)]
        return " ".join(kept) or ask


def without_article(name):
    for article in ("a ", "an ", "the "):
        if name.startswith(article):
            return name.removeprefix(article)
    return name


def plural_of(name):
    """`a session key` → `session keys`. A name without an article has no plural."""
    bare = without_article(name)
    if bare == name or name.startswith("the "):
        return name
    if bare.endswith("y") and bare[-2] not in "aeiou":
        return bare[:-1] + "ies"
    return bare + ("es" if bare.endswith(("s", "x", "ch", "sh")) else "s")
