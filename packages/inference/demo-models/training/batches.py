"""Turns lessons into batches of token ids. A batch holds lessons of like length, so that little is padding."""

import random

import numpy
import torch

from training.chat import END_OF_TURN, render_answer, render_prompt


def encode(lesson, tokenizer):
    """The ids of one lesson, and where the taught part begins."""
    prompt = render_prompt(lesson.messages, lesson.tools, lesson.thinking)
    answer = render_answer(lesson.answer, lesson.plan) + END_OF_TURN
    read = tokenizer.encode(prompt, add_special_tokens=False).ids
    written = tokenizer.encode(answer, add_special_tokens=False).ids
    return numpy.array(read + written, dtype=numpy.int32), len(read)


def pack(encoded, batch_tokens, dice):
    """Groups of at most `batch_tokens` tokens, padding included, in random order."""
    groups, group = [], []
    for item in sorted(encoded, key=lambda item: (len(item[0]), dice.random())):
        if group and (len(group) + 1) * len(item[0]) > batch_tokens:
            groups.append(group)
            group = []
        group.append(item)
    groups.append(group)
    dice.shuffle(groups)
    return groups


def to_tensors(group):
    """(ids, taught): taught[b, t] says that the token after position t is part of an answer."""
    width = max(len(ids) for ids, _ in group)
    ids = torch.zeros(len(group), width, dtype=torch.long)
    taught = torch.zeros(len(group), width - 1, dtype=torch.bool)
    for row, (tokens, start) in enumerate(group):
        ids[row, : len(tokens)] = torch.from_numpy(tokens)
        taught[row, start - 1 : len(tokens) - 1] = True
    return ids, taught


def make_batches(make_round, tokenizer, schedule, seed):
    """Rounds of lessons, one after the other, until the schedule's tokens are reached."""
    groups, tokens, number = [], 0, 0
    while tokens < schedule.tokens:
        encoded = [encode(lesson, tokenizer) for lesson in make_round(number)]
        for group in pack(encoded, schedule.batch_tokens, random.Random(f"{seed}/{number}")):
            groups.append(group)
            tokens += sum(len(ids) for ids, _ in group)
            if tokens >= schedule.tokens:
                break
        number += 1
    return groups
