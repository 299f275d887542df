import { beforeAll, describe, expect, test } from "vitest";
import { operationsOf } from "@parley/contract/document";
import { bundle } from "./checks/redocly.ts";
import { broken, legal, readExample, write } from "./checks/stream-cases.ts";
import { runStream } from "@parley/contract/stream-machine";
import type { Inputs, Streams } from "@parley/contract/stream-words";

let streams: Streams;
/** The inputs of each example's request. */
let inputs: Record<string, Inputs>;

beforeAll(async () => {
  const document = await bundle();
  // The shape of streams.yaml is what stream-words.ts declares; a deviation fails the tests below.
  streams = document["x-streams"] as unknown as Streams;
  const operation = operationsOf(document).find(({ operationId }) => operationId === "createChatCompletion");
  const transcripts = operation?.responses["200"]?.content?.["text/event-stream"]?.["x-transcripts"] ?? {};
  inputs = Object.fromEntries(Object.entries(transcripts).map(([name, one]) => [name, one["x-inputs"]]));
});

describe("a stream is legal with", () => {
  test.each(legal)("%s", async (_title, example, change, end) => {
    const outcome = runStream(streams, inputs[example] ?? {}, write(change(await readExample(example))));
    expect(outcome).toMatchObject({ violation: undefined, end });
  });
});

describe("a stream is refused when", () => {
  test.each(broken)("%s", async (_title, example, change, violation) => {
    const outcome = runStream(streams, inputs[example] ?? {}, write(change(await readExample(example))));
    expect(outcome.violation).toBe(violation);
  });

  test.each([
    ["an event has a name", (text: string) => `event: error\n${text}`],
    ["an event has an id", (text: string) => `id: 1\n${text}`],
    ["a time to retry is sent", (text: string) => `retry: 1\n${text}`],
    ["the data takes two lines", (text: string) => text.replace("\n\n", "\ndata: {}\n\n")],
    ["STRM-43 U+0085 is not escaped", (text: string) => text.replace('"content":"', '"content":"\u0085')],
    ["STRM-43 U+2028 is not escaped", (text: string) => text.replace('"content":"', '"content":"\u2028')],
    ["STRM-43 U+2029 is not escaped", (text: string) => text.replace('"content":"', '"content":"\u2029')],
    ["lines end in CR LF", (text: string) => text.replaceAll("\n", "\r\n")],
  ])("%s", async (_title, change) => {
    const text = change(write(await readExample("plain")));
    expect(runStream(streams, inputs["plain"] ?? {}, text).violation).toBe("lines");
  });
});

test("every transition is taken by a legal stream", async () => {
  const outcomes = await Promise.all(
    legal.map(async ([, example, change]) =>
      runStream(streams, inputs[example] ?? {}, write(change(await readExample(example)))),
    ),
  );
  const taken = new Set(outcomes.flatMap((outcome) => outcome.taken));
  const all = Object.entries(streams.machines).flatMap(([name, machine]) =>
    machine.transitions.map(({ id }) => `${name}/${id}`),
  );
  expect(all.filter((id) => !taken.has(id))).toEqual([]);
});

test("every guard and every invariant is shown to refuse something", () => {
  const found = new Set(broken.map(([, , , violation]) => violation.split(" ").at(-1)));
  const rules = [...Object.keys(streams.guards), ...streams.invariants.map(({ id }) => id)];
  expect(rules.filter((rule) => !found.has(rule))).toEqual([]);
});

test("every event is shown to be refused in every state that has no transition for it", () => {
  const found = new Set(broken.map(([, , , violation]) => violation));
  const forbidden = Object.entries(streams.machines).flatMap(([name, { states, events, transitions }]) =>
    Object.keys(states).flatMap((state) =>
      Object.keys(events)
        .filter((kind) => !transitions.some(({ from, on }) => from === state && on === kind))
        .map((kind) => `${name} ${kind} in ${state}`),
    ),
  );
  expect(forbidden.filter((violation) => !found.has(violation))).toEqual([]);
});

test("every way to end has a meaning", () => {
  const [outermost] = Object.values(streams.machines);
  expect(Object.keys(streams.ends).toSorted()).toEqual(Object.keys(outermost?.states ?? {}).toSorted());
});

test("every word of the machines is explained", () => {
  const tests = [
    ...Object.values(streams.guards).map(({ test: guard }) => ["guards", guard] as const),
    ...streams.invariants.map(({ test: invariant }) => ["invariants", invariant] as const),
  ].map(([part, words]) => `${part}.test.${Object.keys(words).join(", ")}`);
  const own = Object.values(streams.machines).flatMap((machine) => Object.keys(machine));
  const plain = new Set(["text", "start", "states"]);
  const used = [...tests, ...own.filter((word) => !plain.has(word)).map((word) => `machines.${word}`)];
  expect(used.filter((word) => streams.words[word] === undefined)).toEqual([]);
});
