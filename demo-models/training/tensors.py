"""Turns a batch of lessons into the tensors that a network reads."""

import torch


def to_tensors(group):
    """Returns (ids, taught): if taught[b, t], the token after position t is learned."""
    width = max(len(ids) for ids, _ in group)
    ids = torch.zeros(len(group), width, dtype=torch.long)
    taught = torch.zeros(len(group), width - 1, dtype=torch.bool)
    for row, (tokens, said) in enumerate(group):
        ids[row, : len(tokens)] = torch.from_numpy(tokens)
        taught[row, : len(tokens) - 1] = torch.from_numpy(said[1:])
    return ids, taught
