import { Ajv2020 } from "ajv/dist/2020.js";
import { valueAt } from "./document.ts";
import type { JsonObject } from "./document.ts";
import type { GuardTest, Inputs, InvariantTest, Machine, Streams } from "./stream-words.ts";

// The result of running the machines of streams.yaml over a transcript. This file knows the words of streams.yaml, and nothing
// about chat completions.

export interface Outcome {
  /** The first violation, in names from streams.yaml. Undefined for a legal stream. */
  readonly violation: string | undefined;
  /** The state of the outermost machine when the bytes ended. */
  readonly end: string;
  /** The transitions of the stream, as `machine/transition`. */
  readonly taken: readonly string[];
}

interface Run {
  readonly streams: Streams;
  readonly inputs: Inputs;
  /** The state of each instance of a machine. The name of an instance is its path: `/stream:/choice:0/call:1`. */
  readonly states: Map<string, string>;
  readonly taken: string[];
  readonly firstValues: Map<string, string>;
}

/** An instance of a machine that reads the next value. */
interface Instance {
  readonly path: string;
  readonly parent: string;
  readonly key: unknown;
}

class ViolationError extends Error {
  override name = "ViolationError";
}

export function runStream(streams: Streams, inputs: Inputs, transcript: string): Outcome {
  const run: Run = { streams, inputs, states: new Map(), taken: [], firstValues: new Map() };
  const outermost = Object.entries(streams.machines).find(([, { within }]) => within === undefined);
  if (!outermost) throw new Error("streams.yaml has no outermost machine");
  const [name, machine] = outermost;
  const violation = firstViolation(() => {
    for (const event of readEvents(streams.lines, transcript)) {
      const kind = step(run, name, machine, event, "");
      checkInvariants(run, kind, event);
    }
  });
  return { violation, end: run.states.get(`/${name}:`) ?? machine.start, taken: run.taken };
}

function firstViolation(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof ViolationError) return error.message;
    throw error;
  }
}

/** Yields the data of each event: an object, or a bare word such as `[DONE]`. */
function* readEvents(lines: Streams["lines"], transcript: string): Generator {
  let data: string | undefined;
  for (const line of transcript.split("\n").slice(0, -1)) {
    const kind = lines.find(({ pattern }) => new RegExp(pattern).test(line))?.kind;
    if (kind === undefined || (kind === "data" && data !== undefined)) throw new ViolationError("lines");
    if (kind === "data") data = line.slice("data: ".length);
    if (kind !== "end" || data === undefined) continue;
    yield data.startsWith("{") ? JSON.parse(data) : data;
    data = undefined;
  }
}

/** Lets an instance of a machine read a value, and then the instances inside it. Returns the kind of the event. */
function step(run: Run, name: string, machine: Machine, value: unknown, parent: string): string {
  const key = machine.key === undefined ? "" : valueAt(value, machine.key);
  const path = `${parent}/${name}:${String(key)}`;
  const state = run.states.get(path) ?? machine.start;
  const kind = Object.keys(machine.events).find((one) => accepts(machine.events[one]?.schema, value));
  if (kind === undefined) throw new ViolationError(`${name} unknown`);
  const transition = machine.transitions.find(({ from, on }) => from === state && on === kind);
  if (!transition) throw new ViolationError(`${name} ${kind} in ${state}`);
  for (const guard of transition.if ?? []) {
    const test = run.streams.guards[guard]?.test;
    if (!test) throw new Error(`streams.yaml has no guard ${guard}`);
    if (!holds(run, test, { path, parent, key })) throw new ViolationError(`${name} ${kind} unless ${guard}`);
  }
  run.states.set(path, transition.to);
  run.taken.push(`${name}/${transition.id}`);
  for (const [inner, definition] of Object.entries(run.streams.machines))
    if (definition.within === name) stepEach(run, inner, definition, value, path);
  return kind;
}

function stepEach(run: Run, name: string, machine: Machine, value: unknown, parent: string): void {
  const found = valueAt(value, machine.reads);
  if (Array.isArray(found)) for (const item of found) step(run, name, machine, item, parent);
}

function holds({ states, inputs }: Run, test: GuardTest, { path, parent, key }: Instance): boolean {
  const isIn = (allowed: string[], instance: string) => allowed.includes(states.get(instance) ?? "");
  const inside = (machine: string) => [...states.keys()].filter((name) => name.startsWith(`${path}/${machine}:`));
  if ("input" in test) return inputs[test.input] === test.is;
  if ("key_below" in test) return typeof key === "number" && key < Number(inputs[test.key_below]);
  if ("every" in test) {
    const keys = Array.from({ length: Number(inputs[test.below]) }, (_, index) => index);
    return keys.every((index) => isIn(test.in, `${path}/${test.every}:${index}`));
  }
  if ("any" in test) return inside(test.any).some((instance) => isIn(test.in, instance));
  if ("none" in test) return !inside(test.none).some((instance) => isIn(test.in, instance));
  return key === 0 || isIn(test.in, `${parent}/${test.previous}:${Number(key) - 1}`);
}

function checkInvariants(run: Run, kind: string, event: unknown): void {
  for (const { id, on, given = {}, test } of run.streams.invariants) {
    const applies = on.includes(kind) && Object.entries(given).every(([name, value]) => run.inputs[name] === value);
    if (applies && !isKept(run, test, event)) throw new ViolationError(`invariant ${id}`);
  }
}

function isKept({ firstValues }: Run, test: InvariantTest, event: unknown): boolean {
  if ("schema" in test) return accepts(test.schema, event);
  if ("equal" in test) return new Set(test.equal.map((pointer) => JSON.stringify(valueAt(event, pointer)))).size === 1;
  if ("sum" in test) {
    const sum = test.sum.reduce((total, pointer) => total + Number(valueAt(event, pointer)), 0);
    return sum === valueAt(event, test.is);
  }
  return test.constant.every((pointer) => {
    const value = JSON.stringify(valueAt(event, pointer)) ?? "absent";
    if (!firstValues.has(pointer)) firstValues.set(pointer, value);
    return firstValues.get(pointer) === value;
  });
}

// Ajv caches validators by the identity of the schema, so every kind of event is compiled once.
const ajv = new Ajv2020({ strict: false });

function accepts(schema: JsonObject | undefined, value: unknown): boolean {
  return schema !== undefined && ajv.validate(schema, value);
}
