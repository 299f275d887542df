"""Runs the examination: held-out wordings and fresh fillings, greedy answers, and a record of every miss."""

import json
from dataclasses import replace

from training.chat import render_answer
from training.generate import Speaker
from training.lessons.rounds import Teachers
from training.report import write_report

FRESH = 200  # generated tasks of each larger kind
NEW_WORDING = ", new wording"
EXACT = ("call", "two calls", "extraction", "repeat", "schema", "retelling")


def examination(corpus, seed):
    """Returns the lessons of the examination. No wording of a question was taught, and no filling of a template. Tasks from templates are
    examined twice, in taught wordings and in held-out ones."""
    teachers = Teachers(corpus, f"{seed}/examine", held_out=True)
    yield from examine_questions(teachers)
    yield from teachers.manners.small_talk()
    yield from teachers.manners.refusals()
    yield from (teachers.manners.unknown() for _ in range(20))
    yield from (teachers.snippets.lesson() for _ in range(100))
    yield from (teachers.noise.lesson() for _ in range(80))
    yield from (teachers.schemas.lesson() for _ in range(FRESH))
    yield from (teachers.no_calls.lesson() for _ in range(100))
    yield from (teachers.retelling.lesson() for _ in range(100))
    yield from (teachers.written_functions.lesson() for _ in range(2 * FRESH))
    yield from (teachers.written_schemas.lesson() for _ in range(FRESH // 2))
    yield from examine_skills(Teachers(corpus, f"{seed}/examine fillings"))
    yield from (replace(lesson, kind=lesson.kind + NEW_WORDING) for lesson in examine_skills(teachers))


def examine_skills(teachers):
    yield from examine_calls(teachers)
    yield from examine_own_calls(teachers.own_calls)
    yield from (teachers.extraction.lesson() for _ in range(FRESH))
    yield from (teachers.extraction.lesson(own=True) for _ in range(80))
    yield from (teachers.extraction.repeat() for _ in range(80))


def examine_questions(teachers):
    recall = teachers.recall
    yield from (recall.plain(question) for question in teachers.questions)
    yield from (recall.thought(question) for question in teachers.some(60))
    for form in recall.forms:
        yield from (recall.in_form(question, form) for question in teachers.some(12))
        yield from (recall.in_form_later(question, form) for question in teachers.some(5))
    yield from (recall.follow_up(pair) for pair in teachers.source.dice.sample(recall.pairs, FRESH))
    yield from (recall.switch(*teachers.some(2)) for _ in range(60))
    yield from (recall.in_scope(question) for question in teachers.some(60))


def examine_calls(teachers):
    calls = teachers.calls
    yield from (calls.one() for _ in range(FRESH))
    yield from (calls.session(2) for _ in range(30))
    yield from (calls.two() for _ in range(60))
    yield from (calls.missing() for _ in range(40))
    yield from (calls.not_needed() for _ in range(40))
    yield from (calls.answered() for _ in range(60))
    yield from (teachers.results.lesson() for _ in range(60))
    yield from (teachers.tool_choice.lesson() for _ in range(60))


def examine_own_calls(calls):
    yield from (calls.one() for _ in range(60))
    yield from (calls.direct() for _ in range(40))
    yield from (calls.two() for _ in range(20))


def same(given, wanted):
    return " ".join(given.lower().split()) == " ".join(wanted.lower().split())


def right(lesson, given):
    """Checks an answer. Calls and JSON must be exact to the letter; in other answers case and spacing do not count."""
    wanted = render_answer(lesson.answer, lesson.plan)
    exact = lesson.kind.split(",")[0] in EXACT
    return given.strip() == wanted if exact else same(given, wanted)


def examine(folder, lessons):
    answers = Speaker(folder).answer_all(lessons, folder.name)
    return [
        {
            "kind": lesson.kind,
            "messages": lesson.messages,
            "tools": lesson.tools,
            "wanted": render_answer(lesson.answer, lesson.plan),
            "given": given,
            "right": right(lesson, given),
        }
        for lesson, given in zip(lessons, answers, strict=True)
    ]


def evaluate_all(folders, corpus, preset, work, target):
    lessons = list(examination(corpus, preset.seed))[:: preset.examine_every]
    results = {folder.name: examine(folder, lessons) for folder in folders}
    (work / "results.json").write_text(json.dumps(results, ensure_ascii=False), encoding="utf-8")
    write_report(results, work, target, preset.start is not None)
