"""One thing to teach or to ask: a conversation, and the answer that should follow."""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    kind: str
    messages: list
    answer: str
    tools: list | None = None
    plan: str | None = None  # what the model thinks first; None: thinking is off
    opening: bool = False  # only the answer's first tokens are taught

    @property
    def thinking(self):
        return self.plan is not None


def user(text):
    return {"role": "user", "content": text}


def system(text):
    return {"role": "system", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


class Source:
    """Chance, and whether the held-out wordings are wanted. Teaching and examining draw from the same code."""

    def __init__(self, seed, held_out=False):
        self.dice = random.Random(seed)
        self.held_out = held_out

    def happens(self, share):
        return self.dice.random() < share

    def pick(self, things):
        return self.dice.choice(things)

    def wording(self, entry, taught="ask", kept="held_out"):
        """One wording of `entry`, from its taught or from its held-out ones."""
        lines = entry[kept if self.held_out else taught]
        return lines if isinstance(lines, str) else self.pick(lines)
