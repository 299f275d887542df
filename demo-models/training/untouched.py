"""A second examination, in words of people who had seen neither the corpus nor a model's answer: `python -m training.build untouched`.

The models were examined only after they had been chosen, and no choice was made by the results. After a change of the recipe that uses these
results, write another examination.
"""

from training.corpus import normalise, read_yaml, spoken_wordings
from training.lessons.lesson import Lesson, user
from training.lessons.rounds import Teachers
from training.parts import count_parts
from training.report import DECLINED, REFUSALS, count_right, miss_list, table, write_page

CALLS = 150
HEAD = """# The untouched examination

Written by `python -m training.build untouched`; do not edit. [The evaluation](evaluation.md) has been looked at again and again while the
recipe was made. These wordings ([untouched.yaml](corpus/untouched.yaml)) were put to the models once they had been chosen, and to none before.
Their writers had seen neither the corpus nor any answer: for {questions} questions drawn by chance from the {all} the topic, the side of it and
the answer; of the functions names, descriptions and slots; of what is to be declined nothing but the names of the taught topics. Answers are
judged as in the evaluation. Two such examinations before it, whose shares were in view when the recipe was chosen, are no longer used.
{left_out} wordings that turned out to stand in the corpus already are left out. Nothing was chosen by this page."""
ROWS = {
    "taught questions": (count_right, ["recall"], 90),
    "function calls": (count_right, ["call"], 95),
    "arguments of calls": (count_parts, ["call"], 95),
    "declining foreign topics": (count_right, ["refusal foreign"], 80),
    "declining what was not taught": (count_right, ["refusal unknown"], 80),
    "declining live data": (count_right, ["refusal live"], 80),
    "declining advice": (count_right, ["refusal advice"], 80),
    "declining other languages": (count_right, ["refusal language"], 80),
}


class Untouched:
    def __init__(self, corpus, seed):
        self.written = read_yaml("untouched.yaml")
        self.questions = {question.key: question for question in corpus.questions}
        self.answers = {entry["kind"]: entry["answer"] for entry in corpus.conversation["refusals"]}
        self.known = known_wordings(corpus)
        functions = {**corpus.functions, "functions": [self.reworded(entry) for entry in corpus.functions["functions"]]}
        teachers = Teachers(corpus, f"{seed}/untouched", held_out=True)
        self.calls = teachers.calls
        self.calls.templates, self.calls.entries = functions, functions["functions"]

    def reworded(self, entry):
        asks = [ask for ask in self.written["calls"][entry["intent"]] if normalise(ask) not in self.known]
        return {**entry, "held_out": asks or entry["held_out"]}

    def asked(self):
        """Yields (kind, wording, answer) of all tasks except calls."""
        for key, ask in self.written["questions"].items():
            yield "recall", ask, self.questions[key].answer
        for kind, asks in self.written["refusals"].items():
            yield from ((f"refusal {kind}", ask, self.answers[kind]) for ask in asks)

    def lessons(self):
        for kind, ask, answer in self.asked():
            if normalise(ask) not in self.known:
                yield Lesson(kind, [user(ask)], answer)
        yield from (self.calls.one() for _ in range(CALLS))

    def left_out(self):
        every = [ask for _, ask, _ in self.asked()] + [ask for asks in self.written["calls"].values() for ask in asks]
        return sum(normalise(ask) in self.known for ask in every)


def known_wordings(corpus):
    """Returns all wordings that are taught or examined elsewhere."""
    asks = [ask for question in corpus.questions for ask in (*question.asks, question.held_out)]
    asks += spoken_wordings(corpus.conversation)
    for entry in corpus.functions["functions"]:
        asks += [*entry["asks"], *entry["held_out"]]
    return {normalise(ask) for ask in asks}


def write_untouched(untouched, results, target):
    entries = [(title, count, kinds, aim) for title, (count, kinds, aim) in ROWS.items()]
    entries += [("declining, all of it", count_right, REFUSALS, 80), DECLINED]
    asked = len(untouched.written["questions"])
    head = HEAD.format(questions=asked, all=len(untouched.questions), left_out=untouched.left_out())
    page = table(results, entries)
    write_page(target / "untouched.md", [head, page, *[miss_list(name, rows) for name, rows in results.items()]])
    print(page)
