"""Counts the right parts of an answer, argument by argument and field by field, and the answers that decline."""

import json
import re

CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)


def said_in(answer):
    """Returns the text after the thinking."""
    return answer.split("</think>")[-1]


def parts_of(answer):
    """Returns place → value as JSON, for every argument of every call or every field; None if the answer cannot be parsed."""
    said = said_in(answer)
    try:
        calls = [json.loads(call) for call in CALL.findall(said)]
        if not calls:
            return written(json.loads(said))
        return {
            (at, call["name"], key): value
            for at, call in enumerate(calls)
            for key, value in written(call["arguments"]).items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def written(fields):
    return {key: json.dumps(value) for key, value in fields.items()}


def count_parts(rows):
    """Returns (right parts, all parts). An unwanted part counts as a wrong one."""
    right = every = 0
    for row in rows:
        wanted, given = parts_of(row["wanted"]), parts_of(row["given"]) or {}
        if wanted is None:
            raise ValueError(f"a wanted answer has no parts: {row['wanted']}")
        right += sum(given.get(place) == value for place, value in wanted.items())
        every += len(wanted.keys() | given.keys())
    return right, every


def count_readable(rows):
    return sum(parts_of(row["given"]) is not None for row in rows), len(rows)


def count_declined(rows):
    """Returns (declined answers, all answers). Any declining sentence that one of the rows wants counts."""
    sentences = {said_in(row["wanted"]).strip() for row in rows}
    return sum(said_in(row["given"]).strip() in sentences for row in rows), len(rows)
