"""A lesson, for teaching or examining: a conversation and its expected answer."""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    kind: str
    messages: list
    answer: str
    tools: list | None = None
    plan: str | None = None  # the model's thinking before the answer; None: thinking is off
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
    """A random source that draws taught or held-out wordings. Teaching and examining use the same code with different sources."""

    def __init__(self, seed, held_out=False):
        self.dice = random.Random(seed)
        self.held_out = held_out

    def happens(self, share):
        return self.dice.random() < share

    def pick(self, things):
        return self.dice.choice(things)

    def wording(self, entry, taught="ask", kept="held_out"):
        """Draws one wording of `entry`, from its taught or its held-out ones."""
        lines = entry[kept if self.held_out else taught]
        return lines if isinstance(lines, str) else self.pick(lines)
