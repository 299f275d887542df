"""Learns byte pairs. Two additional rules help a small model to copy exactly.

Characters that can be hexadecimal never join, so an address has one token per character. A blank joins last, with the first token of its
word, so a name has the same tokens after a blank and after a quote, apart from that blank.
"""

import re
from collections import Counter, defaultdict
from itertools import pairwise

import regex

# Qwen2's; llama.cpp knows the same one as the pre-tokenizer "qwen2".
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BLANK_SHARE = 0.36  # of the merges
HEXADECIMAL = re.compile(r"x?[0-9a-fA-F]{2,}|x[0-9a-fA-F]")


def byte_alphabet():
    """Returns GPT-2's printable stand-in for each byte, in byte order."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spare = iter(range(256, 512))
    return [chr(byte if byte in printable else next(spare)) for byte in range(256)]


BLANK = byte_alphabet()[ord(" ")]


def split_words(texts):
    """Counts each pre-token, as tuples of stand-ins."""
    alphabet, counts = byte_alphabet(), Counter()
    for text in texts:
        counts.update(regex.findall(PATTERN, text))
    return {tuple(alphabet[byte] for byte in word.encode()): count for word, count in counts.items()}


def may_join(left, right):
    return HEXADECIMAL.fullmatch(left + right) is None


def join(word, pair):
    joined, position = [], 0
    while position < len(word):
        if word[position : position + 2] == pair:
            joined.append(word[position] + word[position + 1])
            position += 2
        else:
            joined.append(word[position])
            position += 1
    return tuple(joined)


class PairCounts:
    """Counts of neighbours, kept up to date word by word."""

    def __init__(self, words):
        self.counts, self.places = Counter(), defaultdict(set)
        self.words, self.weights = list(words), list(words.values())
        for place in range(len(self.words)):
            self.add(place, self.weights[place])

    def add(self, place, weight):
        word = self.words[place]
        for pair in pairwise(word):
            self.counts[pair] += weight
            if weight > 0:
                self.places[pair].add(place)

    def best(self):
        allowed = ((count, pair) for pair, count in self.counts.items() if count > 1 and may_join(*pair))
        # Among equal counts, the first in text order wins, so that runs are reproducible.
        return max(allowed, key=lambda item: (item[0], [-ord(c) for c in "".join(item[1])]), default=(0, None))[1]

    def merge(self, pair):
        for place in sorted(self.places.pop(pair)):
            self.add(place, -self.weights[place])
            self.words[place] = join(self.words[place], pair)
            self.add(place, self.weights[place])
        del self.counts[pair]


def without_blank(word):
    return word[1:] if len(word) > 1 and word[0] == BLANK and word[1] != BLANK else word


def learn_merges(texts, count, show=lambda done: None):
    """Returns the `count` most useful merges, most useful first, with those of a blank last; fewer if the text has no more pairs."""
    words, bare = split_words(texts), Counter()
    for word, weight in words.items():
        bare[without_blank(word)] += weight
    pairs, merges = PairCounts(bare), []
    while len(merges) < count - int(count * BLANK_SHARE):
        pair = pairs.best()
        if pair is None:
            break
        pairs.merge(pair)
        merges.append(pair)
        show(len(merges))
    tokens = dict(zip(bare, pairs.words, strict=True))
    return merges + blank_merges(words, tokens, count - len(merges))


def blank_merges(words, tokens, count):
    """Merges a blank with the tokens that follow it most often; `tokens` are those of every word without its blank."""
    firsts = Counter()
    for word, weight in words.items():
        if without_blank(word) != word:
            firsts[tokens[without_blank(word)][0]] += weight
    return [(BLANK, first) for first, weight in firsts.most_common(count) if weight > 1]
