"""Generates greedy answers of an exported model with transformers, many at a time."""

import torch
from tqdm import tqdm
from transformers import AutoModelForCausalLM, AutoTokenizer, StoppingCriteria, StoppingCriteriaList

from training.chat import END_OF_TURN, render_prompt
from training.weights import ensure_safetensors

MOST_TOKENS = 320
AT_ONCE = 48
ALIKE = 100  # characters by which the wanted answers of one batch may differ in length
CIRCLING = 64  # tokens that repeat themselves
LONGEST_CIRCLE = 8  # tokens


class Circling(StoppingCriteria):
    """Ends answers that repeat themselves: they are wrong, and the rest of the batch would wait for them."""

    def __call__(self, input_ids, scores, **kwargs):
        tail = input_ids[:, -CIRCLING:]
        return torch.stack([(tail[:, at:] == tail[:, :-at]).all(1) for at in range(1, LONGEST_CIRCLE + 1)]).any(0)


class Speaker:
    def __init__(self, folder, dtype=torch.float32):
        ensure_safetensors(folder)
        self.tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()

    def answer_all(self, lessons, label):
        """Returns one text per lesson, in their order. Lessons with prompts and answers of similar length share a batch."""
        prompts = [render_prompt(lesson.messages, lesson.tools, lesson.thinking) for lesson in lessons]
        order = sorted(range(len(prompts)), key=lambda at: (len(lessons[at].answer) // ALIKE, len(prompts[at])))
        answers = [""] * len(prompts)
        for start in tqdm(range(0, len(order), AT_ONCE), desc=label, mininterval=5):
            group = order[start : start + AT_ONCE]
            for index, text in zip(group, self.answer([prompts[index] for index in group]), strict=True):
                answers[index] = text
        return answers

    @torch.inference_mode()
    def answer(self, prompts):
        read = self.tokenizer(prompts, return_tensors="pt", padding=True, add_special_tokens=False)
        ends = StoppingCriteriaList([Circling()])
        # The types of transformers do not declare `generate` for a causal model.
        written = self.model.generate(**read, max_new_tokens=MOST_TOKENS, do_sample=False, stopping_criteria=ends)  # pyright: ignore
        texts = self.tokenizer.batch_decode(written[:, read["input_ids"].shape[1] :], skip_special_tokens=False)
        return [text.split(END_OF_TURN)[0] for text in texts]
