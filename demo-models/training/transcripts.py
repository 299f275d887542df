"""Writes ten unedited conversations of the examination: the first right answer of six kinds, and the first wrong one of four."""

GOOD = ["recall", "follow-up", "call", "two calls", "extraction", "snippet"]
BAD = ["recall", "two calls", "extraction", "refusal unknown", "snippet", "form", "call"]
BAD_COUNT = 4


def show_transcripts(rows):
    good = [first(rows, kind, True) for kind in GOOD]
    bad = [first(rows, kind, False) for kind in BAD]
    chosen = [row for row in good if row] + [row for row in bad if row][:BAD_COUNT]
    return "\n\n".join(show(row) for row in chosen)


def first(rows, kind, right):
    return next((row for row in rows if row["kind"] == kind and row["right"] == right), None)


def show(row):
    lines = [f"### {row['kind']}: {'right' if row['right'] else 'wrong'}", "", "```text"]
    if row["tools"]:
        lines.append("functions: " + ", ".join(tool["function"]["name"] for tool in row["tools"]))
    lines += [f"{message['role']}: {said(message)}" for message in row["messages"]]
    lines.append(f"model: {row['given']}")
    if not row["right"]:
        lines.append(f"(wanted: {row['wanted']})")
    return "\n".join([*lines, "```"])


def said(message):
    calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in message.get("tool_calls", [])]
    return message["content"] or ", ".join(calls)
