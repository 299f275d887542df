"""Runs the stream machines of the contract (`x-streams`) over the bytes of an answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

from parley_fuzz.contract import document
from parley_fuzz.exchange import parse_json

streams = document["x-streams"]
machines: dict[str, dict[str, Any]] = streams["machines"]
_missing = object()


class Violation(ValueError):
    pass


@dataclass
class Run:
    """The part of a stream that has been read."""

    inputs: dict[str, Any]
    states: dict[str, str] = field(default_factory=dict)
    first_values: dict[str, Any] = field(default_factory=dict)
    events: list[Any] = field(default_factory=list)

    @property
    def end(self) -> str:
        start: str = machines["stream"]["start"]
        return self.states.get("/stream:", start)


def at(value: object, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return _missing
    return value


def run_stream(text: str, asked: dict[str, Any]) -> Run:
    """Raises `Violation` at the first event that the contract does not allow."""
    run = Run(inputs=_inputs(asked))
    for event in _events(text):
        run.events.append(event)
        kind = _step(run, "stream", event, "")
        _check_invariants(run, kind, event)
    return run


def _inputs(asked: dict[str, Any]) -> dict[str, Any]:
    inputs = {}
    for name, one in streams["inputs"].items():
        value = at(asked, one["pointer"])
        inputs[name] = one["absent"] if value is _missing or value is None else value
    return inputs


def _events(text: str) -> Iterator[Any]:
    data = None
    for line in text.split("\n")[:-1]:
        kind = next((one["kind"] for one in streams["lines"] if re.search(one["pattern"], line)), None)
        if kind is None or (kind == "data" and data is not None):
            raise Violation(f"the line {line[:80]!r} may not stand here")
        if kind == "data":
            data = line.removeprefix("data: ")
        if kind == "end" and data is not None:
            yield parse_json(data) if data.startswith("{") else data
            data = None
    if not text.endswith("\n\n"):
        raise Violation("the last event is not ended by an empty line")


def _step(run: Run, name: str, value: object, parent: str) -> str:
    machine = machines[name]
    key = at(value, machine["key"]) if "key" in machine else ""
    path = f"{parent}/{name}:{key}"
    state = run.states.get(path, machine["start"])
    kind = next((one for one in machine["events"] if _event_validators[name, one].is_valid(value)), None)
    transition = next((one for one in machine["transitions"] if one["from"] == state and one["on"] == kind), None)
    if transition is None:
        raise Violation(f"{name} {key}: {kind or 'an unknown event'} in the state {state}")
    for guard in transition.get("if", []):
        if not _holds(run, streams["guards"][guard]["test"], path, parent, key):
            raise Violation(f"{name} {key}: {kind}, but not: {streams['guards'][guard]['text']}")
    run.states[path] = transition["to"]
    for inner, definition in machines.items():
        items = at(value, definition["reads"]) if definition.get("within") == name else None
        for item in items if isinstance(items, list) else []:
            _step(run, inner, item, path)
    return str(kind)


_dialect = "https://json-schema.org/draft/2020-12/schema"
_event_validators = {
    (name, event): jsonschema_rs.validator_for({"$schema": _dialect, **definition["schema"]})
    for name, machine in machines.items()
    for event, definition in machine["events"].items()
}
_invariant_validators = {
    one["id"]: jsonschema_rs.validator_for({"$schema": _dialect, **one["test"]["schema"]})
    for one in streams["invariants"]
    if "schema" in one["test"]
}


def _holds(run: Run, test: dict[str, Any], path: str, parent: str, key: Any) -> bool:
    if "input" in test:
        return bool(run.inputs[test["input"]] == test["is"])
    if "key_below" in test:
        return isinstance(key, int) and key < run.inputs[test["key_below"]]
    if "every" in test:
        keys = range(int(run.inputs[test["below"]]))
        return all(run.states.get(f"{path}/{test['every']}:{index}") in test["in"] for index in keys)
    if "previous" in test:
        return bool(key == 0 or run.states.get(f"{parent}/{test['previous']}:{key - 1}") in test["in"])
    inside = f"{path}/{test.get('any', test.get('none'))}:"
    has_any = any(name.startswith(inside) and state in test["in"] for name, state in run.states.items())
    return has_any if "any" in test else not has_any


def _check_invariants(run: Run, kind: str, event: object) -> None:
    for invariant in streams["invariants"]:
        given = invariant.get("given", {})
        applies = kind in invariant["on"] and all(run.inputs[name] == value for name, value in given.items())
        if applies and not _is_kept(run, invariant, event):
            raise Violation(f"{invariant['clause']}: {invariant['text']}")


def _is_kept(run: Run, invariant: dict[str, Any], event: object) -> bool:
    test = invariant["test"]
    if "schema" in test:
        return bool(_invariant_validators[invariant["id"]].is_valid(event))
    if "equal" in test:
        first, *others = (at(event, pointer) for pointer in test["equal"])
        return all(other == first for other in others)
    if "sum" in test:
        return bool(sum(at(event, pointer) for pointer in test["sum"]) == at(event, test["is"]))
    values = {pointer: at(event, pointer) for pointer in test["constant"]}
    return all(run.first_values.setdefault(pointer, value) == value for pointer, value in values.items())
