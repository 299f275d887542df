"""Makes a trained model call a function only if it is sure. With wordings that were not taught, the model is less sure of its calls and
refusals, and a wrong call costs more than a missing one."""

import torch

from training.chat import render_prompt
from training.lessons.rounds import Teachers
from training.shape import LONGEST_LESSON

CALL = "<tool_call>"
RIDGE = 1.0  # of the fit: a larger value moves the embedding less, and the logit less evenly


def lessons_with_functions(corpus, seed):
    teachers = Teachers(corpus, f"{seed}/caution")
    written = teachers.written_functions
    makers = [teachers.calls.one, teachers.own_calls.one, teachers.no_calls.lesson, written.call, written.no_call]
    lessons = [make() for make in makers for _ in range(200)]
    return [lesson for lesson in lessons if lesson.tools and not lesson.thinking]


@torch.no_grad()
def beginnings(model, tokenizer, lessons):
    """Returns the last hidden state of each prompt, which decides the first token of the answer: [lessons, hidden]."""
    prompts = (render_prompt(lesson.messages, lesson.tools, lesson.thinking) for lesson in lessons)
    ids = (tokenizer.encode(prompt, add_special_tokens=False).ids[:LONGEST_LESSON] for prompt in prompts)
    return torch.stack([model.hidden(torch.tensor([one]))[0, -1].float() for one in ids])


@torch.no_grad()
def make_cautious(model, tokenizer, corpus, seed, strength):
    """Lowers the logit of a call by `strength` nats at the beginning of an answer. The output layer has no bias, so the token's embedding
    moves along a direction whose product with each of these hidden states is about 1."""
    states = beginnings(model, tokenizer, lessons_with_functions(corpus, seed))
    squares = states.T @ states + RIDGE * torch.eye(states.shape[1])
    direction = torch.linalg.solve(squares, states.sum(0))
    model.model.embed_tokens.weight[tokenizer.token_to_id(CALL)] -= strength * direction
