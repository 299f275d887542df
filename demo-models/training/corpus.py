"""Reads the hand-written corpus and refuses contradictory entries."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from training.lessons.fillings import slots_of

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
REFUSALS = ("foreign", "live", "advice", "unknown", "language")
LEAST_PARAPHRASES = 4  # besides the held-out one


@dataclass(frozen=True)
class Question:
    area: str
    topic: str
    name: str  # name of the topic in a sentence, with its article
    facet: str  # what, why, how, avoid …: the aspect of the topic that the question is about
    answer: str
    asks: tuple
    held_out: str

    @property
    def key(self):
        return f"{self.topic}/{self.facet}"

    @property
    def sentences(self):
        return split_sentences(self.answer)


def split_sentences(text):
    return [part if part.endswith((".", "?", "!")) else part + "." for part in text.split(". ")]


def read_yaml(name):
    return yaml.safe_load((CORPUS / name).read_text(encoding="utf-8"))


def read_folder(name):
    """Reads the entries of all files of a folder, in the order of the files' names. `area` of each is its file's name without the number."""
    entries = []
    for path in sorted((CORPUS / name).glob("*.yaml")):
        area = path.stem.rpartition("-")[0]
        entries += [{**entry, "area": area} for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
    return entries


def read_questions():
    """Reads every taught question of every area, in the order of the files' names."""
    found = questions_in(CORPUS)
    check_questions(found)
    check_against(read_conversation(), found)
    return found


def questions_in(folder):
    found = []
    for path in sorted((folder / "topics").glob("*.yaml")):
        page = yaml.safe_load(path.read_text(encoding="utf-8"))
        for topic in page["topics"]:
            found += topic_questions(page["area"], topic)
    return found


def topic_questions(area, topic):
    facets = {facet: entry for facet, entry in topic.items() if facet not in ("topic", "name")}
    return [
        Question(
            area,
            topic["topic"],
            topic["name"],
            facet,
            entry["answer"].strip(),
            tuple(entry["ask"].strip().splitlines()),
            entry["held_out"],
        )
        for facet, entry in facets.items()
    ]


def normalise(text):
    return " ".join(text.lower().split()).rstrip(".?!")


def read_conversation():
    """Reads the entries of small talk and of requests to decline. Raises ValueError if a wording occurs twice."""
    entries = {
        "small_talk": read_yaml("small-talk.yaml"),
        "refusals": [read_yaml(f"refusals/{kind}.yaml") for kind in REFUSALS],
    }
    check_wordings(entries)
    for entry in entries["refusals"]:
        check_frames(entry)
    return entries


def check_wordings(conversation):
    """Checks, as for the questions, that no wording occurs twice and no held-out line is taught."""
    seen = set()
    for ask in spoken_wordings(conversation):
        if normalise(ask) in seen:
            raise ValueError(f"“{ask}” stands twice in small-talk.yaml and refusals")
        seen.add(normalise(ask))


def check_frames(entry):
    frames = entry.get("frames", [])
    for lines in (frames, *entry.get("words", {}).values()):
        if len(set(lines)) != len(lines):
            raise ValueError(f"{entry['kind']}: a frame or a word stands twice")
    unused = entry.get("words", {}).keys() - {slot for frame in frames for slot in slots_of(frame)}
    if unused:
        raise ValueError(f"{entry['kind']}: no frame has {sorted(unused)}")


def spoken_wordings(conversation):
    entries = [*conversation["small_talk"], *conversation["refusals"]]
    return [ask for entry in entries for ask in (*entry["ask"], *entry["held_out"])]


def check_against(conversation, questions):
    """Checks that no taught question is also answered or declined as small talk."""
    spoken = {normalise(ask) for ask in spoken_wordings(conversation)}
    for question in questions:
        for ask in (*question.asks, question.held_out):
            if normalise(ask) in spoken:
                raise ValueError(f"{question.key}: “{ask}” stands in small-talk.yaml or refusals")


def check_questions(questions):
    owners, answers, keys, names = {}, {}, set(), {}
    for question in questions:
        if question.key in keys:
            raise ValueError(f"{question.key} stands twice")
        keys.add(question.key)
        if names.setdefault(question.topic, (question.area, question.name)) != (question.area, question.name):
            raise ValueError(f"{question.key}: its topic has another name or area elsewhere")
        if len(question.asks) < LEAST_PARAPHRASES:
            raise ValueError(f"{question.key}: fewer than {LEAST_PARAPHRASES} ways to ask")
        if answers.setdefault(normalise(question.answer), question.key) != question.key:
            raise ValueError(f"{question.key}: the same answer as {answers[normalise(question.answer)]}")
        for ask in (*question.asks, question.held_out):
            if normalise(ask) in owners:
                raise ValueError(f"{question.key}: “{ask}” is already asked by {owners[normalise(ask)]}")
            owners[normalise(ask)] = question.key
