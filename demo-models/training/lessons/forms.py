"""Puts a taught answer into the form that a system message, or a later message, asks for."""

import json

from training.lessons.fillings import fill
from training.lessons.paraphrase import without_article


def shape_answer(question, shape, phrase):
    """Writes the answer of `question` in the form that `shape` of corpus/templates/forms.yaml describes."""
    sentences = question.sentences
    values = {
        "answer": question.answer,
        "first": sentences[0],
        "rest": " ".join(sentences[1:]),
        "topic": heading(question.name),
        "phrase": phrase,
    }
    if isinstance(shape, str):
        return fill(shape, values).strip()
    if "json" in shape:
        return json.dumps(filled(shape["json"], values, sentences), ensure_ascii=False)
    lines = (fill(shape["sentence"], {"sentence": text, "number": at}) for at, text in enumerate(sentences, 1))
    return shape["join"].join(lines)


def filled(shape, values, sentences):
    if shape == ["{sentences}"]:
        return sentences
    return {key: fill(text, values) for key, text in shape.items()}


def heading(name):
    """Makes a heading of a topic's name, without its article."""
    bare = without_article(name)
    return bare[:1].upper() + bare[1:]
