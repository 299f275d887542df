"""Computes the gradients of a step's batches in parallel. Each core but the first has a process with its own batches, because threads of
one interpreter waited for each other: two did only a fifth more than one."""

import signal
from contextlib import suppress

import torch
from torch.nn import functional as F

from training.tensors import to_tensors


def deterministic():
    """Makes training reproducible. It turns off PyTorch's filling of new memory, which took a fifth of a step."""
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False


def taught_loss(model, batch, teacher, preset):
    """Returns the cross-entropy on the taught tokens; with a teacher, mixed with the distance to its whole distribution."""
    ids, taught = batch
    logits = model.logits(model.hidden(ids[:, :-1])[taught]).float()
    loss = F.cross_entropy(logits, ids[:, 1:][taught])
    if teacher is None:
        return loss
    with torch.no_grad():
        wanted = teacher.logits(teacher.hidden(ids[:, :-1])[taught]).float()
    given = F.log_softmax(logits, -1)
    distance = F.kl_div(given, F.log_softmax(wanted, -1), log_target=True, reduction="batchmean")
    return preset.distil_share * distance + (1 - preset.distil_share) * loss


def add_slopes(groups, model, teacher, preset, sums):
    """Adds the gradients of `groups` to `sums` and returns their losses."""
    losses = []
    for group in groups:
        batch = [tensor.to(preset.device) for tensor in to_tensors(group)]
        with torch.autocast(preset.device, torch.bfloat16, enabled=preset.products == "bfloat16"):
            loss = taught_loss(model, batch, teacher, preset)
        for total, slope in zip(sums, torch.autograd.grad(loss, list(model.parameters())), strict=True):
            total += slope
        losses.append(loss.item())
    return losses


def work(connection, model, teacher, preset, sums):
    """The loop of every process but the first. It ends when the first process ends."""
    # A terminal signals all processes, but the first process decides when to end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    torch.set_num_threads(1)
    deterministic()
    with suppress(EOFError):
        while True:
            groups = connection.recv()
            for total in sums:
                total.zero_()
            connection.send(add_slopes(groups, model, teacher, preset, sums))


class Slopes:
    """`of(groups)` returns the losses and the mean gradients. All processes share the memory of the weights."""

    def __init__(self, model, teacher, preset):
        self.model, self.teacher, self.preset = model, teacher, preset
        self.sums = [[torch.zeros_like(weight) for weight in model.parameters()] for _ in range(preset.threads)]
        self.connections = []
        if preset.threads > 1:
            self.start()

    def start(self):
        context = torch.multiprocessing.get_context("spawn")
        torch.multiprocessing.set_sharing_strategy("file_system")
        for model in (self.model, self.teacher):
            if model is not None:
                model.share_memory()
        for sums in self.sums[1:]:
            for total in sums:
                total.share_memory_()
            here, there = context.Pipe()
            arguments = (there, self.model, self.teacher, self.preset, sums)
            context.Process(target=work, args=arguments, daemon=True).start()
            there.close()
            self.connections.append(here)

    def of(self, groups):
        """Raises SystemExit when one of the processes has ended."""
        shares = [groups[first :: len(self.sums)] for first in range(len(self.sums))]
        try:
            losses = self.add_all(shares)
        except (EOFError, ConnectionError) as failure:
            raise SystemExit(
                "A process of the training has ended, perhaps for want of memory: the same command goes on from the last checkpoint."
            ) from failure
        return losses, [sum(parts) / len(groups) for parts in zip(*self.sums, strict=True)]

    def add_all(self, shares):
        for connection, share in zip(self.connections, shares[1:], strict=True):
            connection.send(share)
        for total in self.sums[0]:
            total.zero_()
        losses = add_slopes(shares[0], self.model, self.teacher, self.preset, self.sums[0])
        for connection in self.connections:
            losses += connection.recv()
        return losses

    def close(self):
        for connection in self.connections:
            connection.close()
