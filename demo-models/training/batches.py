"""Turns lessons into batches of token ids. A batch holds lessons of similar length, so that it has little padding."""

import random

import numpy

from training.chat import END_OF_TURN, NO_THOUGHT, START_OF_TURN, render_answer, render_prompt
from training.shape import LONGEST_LESSON

OPENING_TOKENS = 8  # of an answer: they decide which answer it is


def encode(lesson, tokenizer):
    """Returns (the ids of one lesson, a mask of the taught ones): the answer, and the assistant's earlier turns."""
    prompt = render_prompt(lesson.messages, lesson.tools, lesson.thinking)
    answer = render_answer(lesson.answer, lesson.plan) + END_OF_TURN
    read = tokenizer.encode(prompt, add_special_tokens=False).ids
    written = tokenizer.encode(answer, add_special_tokens=False).ids
    if lesson.opening:
        written = written[:OPENING_TOKENS]
    taught = earlier_turns(read, tokenizer) + [True] * len(written)
    return numpy.array(read + written, dtype=numpy.int32), numpy.array(taught)


def earlier_turns(ids, tokenizer):
    """Marks the assistant's earlier turns. The template puts the mark of no thinking before them, as before an answer without thinking."""
    opening = tokenizer.encode(f"{START_OF_TURN}assistant\n{NO_THOUGHT}", add_special_tokens=False).ids
    end = tokenizer.token_to_id(END_OF_TURN)
    taught, inside = [False] * len(ids), False
    for at in range(len(opening), len(ids)):
        if ids[at - len(opening) : at] == opening:
            inside = True  # the last mark belongs to the answer, and no earlier turn follows it
        if inside:
            taught[at] = True
            inside = ids[at] != end
    return taught


def pack(encoded, batch_tokens, dice):
    """Groups lessons into batches of at most `batch_tokens` tokens, including padding, in random order."""
    groups, group = [], []
    for item in sorted(encoded, key=lambda item: (len(item[0]), dice.random())):
        if group and (len(group) + 1) * len(item[0]) > batch_tokens:
            groups.append(group)
            group = []
        group.append(item)
    groups.append(group)
    dice.shuffle(groups)
    return groups


def make_steps(make_round, tokenizer, schedule, seed):
    """Yields the batches of every step from one round of lessons after the other, until the schedule's tokens are reached.
    Raises ValueError for a lesson that is too long."""
    groups, tokens, number = [], 0, 0
    while tokens < schedule.tokens:
        encoded = [encode(lesson, tokenizer) for lesson in make_round(number)]
        longest = max(len(ids) for ids, _ in encoded)
        if longest > LONGEST_LESSON:
            raise ValueError(
                f"round {number} has a lesson of {longest} tokens, and the network reads {LONGEST_LESSON} at once"
            )
        for group in pack(encoded, schedule.batch_tokens, random.Random(f"{seed}/{number}")):
            groups.append(group)
            tokens += sum(len(ids) for ids, _ in group)
            if tokens >= schedule.tokens:
                break
        number += 1
    return [groups[first : first + schedule.batches] for first in range(0, len(groups), schedule.batches)]
