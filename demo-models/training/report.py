"""Writes two pages from the results: `evaluation.md` has shares per kind for every model and ten transcripts, and `misses.md` has every
miss of the shipped models."""

import json
from collections import Counter

from training.corpus import REFUSALS as REASONS
from training.curves import CURVES_FILE, draw_curves
from training.parts import count_declined, count_parts, count_readable
from training.presets import is_shipped
from training.transcripts import show_transcripts

REFUSALS = [f"refusal {reason}" for reason in REASONS]
GROUPS = {
    "taught questions, held-out wording": ["recall"],
    "the same with thinking": ["thinking"],
    "follow-up questions": ["follow-up"],
    "a new topic after another": ["new topic"],
    "form asked by the system message": ["form"],
    "form asked afterwards": ["form later"],
    "one area only": ["scope"],
    "function call, fresh arguments": ["call"],
    "two calls in one turn": ["two calls"],
    "asking for a missing argument": ["missing argument"],
    "no call where none is needed": ["call not needed"],
    "answer from a function's result": ["tool result"],
    "the asked field of a larger result": ["field of a result"],
    "naming the function that fits": ["which function"],
    "fields into JSON": ["extraction"],
    "copying": ["repeat"],
    "the flaw of a piece of Solidity": ["snippet"],
    "declining foreign topics": ["refusal foreign"],
    "declining live data, advice, other languages": ["refusal live", "refusal advice", "refusal language"],
    "declining what was not taught": ["refusal unknown"],
    "declining, all of it": REFUSALS,
    "small talk": ["small talk"],
    "noise, data, long texts": ["noise"],
    "JSON by a schema that is shown": ["schema"],
    "no call where functions do not fit or are to wait": ["no call"],
    "retelling any result": ["retelling"],
    "function call, functions of a caller's own": ["call, own functions"],
    "two calls in one turn, functions of a caller's own": ["two calls, own functions"],
    "fields into JSON, keys of a caller's own": ["extraction, own keys"],
    # Functions and schemas that were not taught.
    "function call, a function never seen": ["call, written"],
    "two calls in one turn, functions never seen": ["two calls, written"],
    "asking for a missing argument, a function never seen": ["missing argument, written"],
    "no call, functions never seen": ["no call, written"],
    "JSON by a schema never seen": ["schema, written"],
    # The same skills with new values and also new wordings.
    "function call, new wording": ["call, new wording"],
    "two calls in one turn, new wording": ["two calls, new wording"],
    "asking for a missing argument, new wording": ["missing argument, new wording"],
    "no call where none is needed, new wording": ["call not needed, new wording"],
    "answer from a function's result, new wording": ["tool result, new wording"],
    "the asked field of a larger result, new wording": ["field of a result, new wording"],
    "naming the function that fits, new wording": ["which function, new wording"],
    "fields into JSON, new wording": ["extraction, new wording"],
    "copying, new wording": ["repeat, new wording"],
    "function call, functions of a caller's own, new wording": ["call, own functions, new wording"],
    "two calls in one turn, functions of a caller's own, new wording": ["two calls, own functions, new wording"],
    "fields into JSON, keys of a caller's own, new wording": ["extraction, own keys, new wording"],
}
CALLS, OWN_CALLS = ["call", "two calls"], ["call, own functions", "two calls, own functions"]
TEXTS, OWN_TEXTS = ["extraction"], ["extraction, own keys"]
# Title, way of counting, kinds, and the aim in percent.
PARTS = {
    "arguments of calls": (count_parts, CALLS, 95),
    "arguments of calls, functions of a caller's own": (count_parts, OWN_CALLS, 95),
    "JSON that parses": (count_readable, TEXTS, None),
    "fields of JSON": (count_parts, TEXTS, 95),
    "fields of JSON, keys of a caller's own": (count_parts, OWN_TEXTS, 95),
}
DECLINED = ("declining, whichever of its sentences is given", count_declined, REFUSALS, None)
HEAD = """# Evaluation

Written by `python -m training.build evaluate`; do not edit. Greedy answers of the exported bf16 weights, computed in float32 by
transformers. No wording of a question here was taught, and every address, amount and name was newly drawn; what templates ask stands in
their taught wordings, and once more in new ones. An answer counts only when it equals the taught one: to the letter for calls, JSON and
copies; letter case and spacing apart for the others. Declining has one sentence for each reason. The same command writes every miss to `misses.md`.

The recipe was chosen with earlier results of this examination in view, and a third of it decided which layers the student keeps and at
which rate it learns: no part of it is untouched. [Another one](untouched.md) is smaller, and in words of writers who knew neither the corpus nor
an answer. Some of the refusals, and the forms, follow-ups and requests for JSON, were written with their held-out lines in view
([review.md](corpus/review.md)); questions and calls were not.
"""
PARTS_HEAD = """The same calls and JSON, part by part. A part is right when it has the wanted value in the wanted call or field; what nobody wanted
counts as a wrong one."""
MISSES_HEAD = """# Every miss

Written by `python -m training.build evaluate`; do not edit. The wrong answers of each model of [the evaluation](evaluation.md).
"""
FURTHER = (
    """Both went on from models that an earlier training had made; the table has what was read since, and its time."""
)

ALONE = """`model-1-mini-alone` has the size, the data and the number of steps of `model-1-mini`, and no teacher: it starts as `model-1` did and
learns from the right answers only. It is not shipped."""
LONGEST = 240
# Aims of model-1 in percent. The aim of model-1-mini is to stay within 10 points of it.
AIMS = {
    "taught questions, held-out wording": 90,
    "function call, fresh arguments": 95,
    "two calls in one turn": 95,
    "fields into JSON": 95,
    "function call, new wording": 95,
    "two calls in one turn, new wording": 95,
    "fields into JSON, new wording": 95,
    "function call, functions of a caller's own": 95,
    "two calls in one turn, functions of a caller's own": 95,
    "fields into JSON, keys of a caller's own": 95,
    "function call, functions of a caller's own, new wording": 95,
    "two calls in one turn, functions of a caller's own, new wording": 95,
    "fields into JSON, keys of a caller's own, new wording": 95,
    "declining foreign topics": 80,
    "declining live data, advice, other languages": 80,
    "declining what was not taught": 80,
    "declining, all of it": 80,
}


def count_right(rows):
    return sum(row["right"] for row in rows), len(rows)


def share(count, rows, kinds):
    good, every = count([row for row in rows if row["kind"] in kinds])
    return f"{100 * good / every:.1f} % ({good}/{every})" if every else "–"


def table(results, entries):
    """`entries`: (title, how to count, kinds, aim in percent or None)."""
    lines = ["| what | aim | " + " | ".join(results) + " |", "|---" * (len(results) + 2) + "|"]
    for title, count, kinds, aim in entries:
        cells = (share(count, rows, kinds) for rows in results.values())
        lines.append(f"| {title} | {f'{aim} %' if aim else ''} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def score_table(results):
    every = {row["kind"] for rows in results.values() for row in rows}
    entries = [(title, count_right, kinds, AIMS.get(title)) for title, kinds in GROUPS.items()]
    return table(results, [*entries, DECLINED, ("**all tasks**", count_right, every, None)])


def parts_table(results):
    """Writes every row twice: in taught wordings, and in new ones."""
    return table(
        results,
        [
            (title + ending, count, [kind + ending for kind in kinds], aim)
            for title, (count, kinds, aim) in PARTS.items()
            for ending in ("", ", new wording")
        ],
    )


def training_facts(names, work):
    files = {name: work / f"{name}.json" for name in names}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.exists()}


def training_table(facts_of):
    lines = [
        "| model | parameters | tokens read | steps | training time | loss at the end |",
        "|---|---|---|---|---|---|",
    ]
    for name, facts in facts_of.items():
        lines.append(
            f"| {name} | {facts['parameters']:,} | {facts['tokens']:,} | {facts['steps']:,} "
            f"| {facts['seconds'] / 60:.1f} min | {facts['curve'][-1][1] if facts['curve'] else '–'} |"
        )
    return "\n".join(lines)


def speed_line(work):
    """Returns the line with the speed that `compare.mjs` has measured, if any."""
    file = work / "speed.json"
    speeds = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    told = ", ".join(f"{name} {speed:,} tokens/s" for name, speed in speeds.items())
    return [f"Speed of generation in llama.cpp on one thread: {told}."] if told else []


def one_line(text):
    flat = text.replace("\n", " ⏎ ").replace("|", "¦").replace("`", "'")
    return f"`{flat}`" if len(flat) <= LONGEST else f"`{flat[:LONGEST]}…`"


def miss_list(name, rows):
    misses = [row for row in rows if not row["right"]]
    lines = [f"## Misses of {name}: {len(misses)} of {len(rows)}", ""]
    for kind in Counter(row["kind"] for row in misses):
        lines += [f"### {kind}", "", "| asked | wanted | given |", "|---|---|---|"]
        for row in (row for row in misses if row["kind"] == kind):
            lines.append(
                f"| {one_line(row['messages'][-1]['content'])} | {one_line(row['wanted'])} | {one_line(row['given'])} |"
            )
        lines.append("")
    return "\n".join(lines)


def write_page(file, parts):
    file.write_text("\n\n".join(part.rstrip() for part in parts) + "\n", encoding="utf-8")


def write_report(results, work, target, is_further=False):
    """`is_further`: the models continued from earlier ones."""
    shipped = [name for name in results if is_shipped(name)]
    facts_of = training_facts(results, work)
    curves = {name: facts["curve"] for name, facts in facts_of.items() if facts["curve"]}
    (target / CURVES_FILE).write_text(draw_curves(curves), encoding="utf-8")
    parts = [
        HEAD,
        score_table(results),
        PARTS_HEAD,
        parts_table(results),
        *([ALONE] if len(shipped) < len(results) else []),
        "## Training",
        training_table(facts_of),
        *([FURTHER] if is_further else []),
        *speed_line(work),
        *([f"![Loss per taught token over the training]({CURVES_FILE})"] if curves else []),
        "## Ten transcripts of model-1, good and bad",
        show_transcripts(results[shipped[0]]),
    ]
    write_page(target / "evaluation.md", parts)
    write_page(target / "misses.md", [MISSES_HEAD, *[miss_list(name, results[name]) for name in shipped]])
    print(score_table(results))
    print(parts_table(results))
