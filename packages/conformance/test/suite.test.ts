import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { requestCatalogue, checks, testGroups, unchecked } from "../src/clauses/test-groups.ts";
import { clauseOf, clauses, document, faultsOf } from "../src/contract/contract.ts";
import { rules } from "../src/clauses/strm/rules.ts";
import { Transcript } from "../src/clauses/strm/transcript.ts";
import { broken, legal, readExample, write } from "../../../openapi/checks/stream-cases.ts";
import { explainClause } from "../src/report/explain.ts";
import { faultsOfSuite } from "../src/run/plan.ts";
import { Answer } from "../src/wire/answer.ts";

describe("every clause", () => {
  test.each(Object.entries(testGroups))("with the prefix %s is judged in the folder of that name", (prefix, group) => {
    const folder = fileURLToPath(new URL(`../src/clauses/${prefix.toLowerCase()}/`, import.meta.url));
    const named = readdirSync(folder).flatMap((file) =>
      [...readFileSync(join(folder, file), "utf8").matchAll(/"([A-Z]+)-\d+"/g)].map(([id]) => `${id} in ${file}`),
    );
    expect(named.filter((one) => !one.startsWith(`"${prefix}-`))).toEqual([]);
    const judged = group.checks.map(({ clause }) => clause);
    expect(judged.filter((id) => !named.some((one) => one.startsWith(`"${id}"`)))).toEqual([]);
    const all = clauses.map(({ id }) => id).filter((id) => id.startsWith(`${prefix}-`));
    const known = new Set([...judged, ...unchecked.map(({ clause }) => clause)]);
    expect(all.filter((id) => !known.has(id))).toEqual([]);
  });

  test("has a check, or a reason why there can be none", () => {
    const judged = new Set([...checks, ...unchecked].map(({ clause }) => clause));
    expect(clauses.map(({ id }) => id).filter((id) => !judged.has(id))).toEqual([]);
    expect([...judged].filter((id) => !clauses.some((clause) => clause.id === id))).toEqual([]);
    expect(faultsOfSuite()).toEqual([]);
  });

  test("has at most one reason, and no check beside it", () => {
    const judged = new Set(checks.map(({ clause }) => clause));
    expect(unchecked.filter(({ clause }) => judged.has(clause))).toEqual([]);
  });
});

test("no two steps of the request catalogue have one name", () => {
  expect(requestCatalogue.size).toBe(new Set(requestCatalogue.keys()).size);
  expect(requestCatalogue.size).toBeGreaterThan(150);
});

test("the copy of the contract judges its own examples as right", () => {
  const answers = document.paths["/v1/chat/completions"]?.post?.responses["200"]?.content?.["application/json"];
  const faults = Object.values(answers?.examples ?? {}).flatMap(({ value }) => faultsOf("ChatCompletion", value));
  expect(faults).toEqual([]);
});

/** A stream as if it had come over the wire, in pieces of any size. */
function received(body: string, request: object, size = 1 << 20): Transcript {
  const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
  const bytes = Buffer.from(head + body).toString("latin1");
  const pieces = bytes.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
  return new Transcript(
    new Answer({
      name: "example",
      request: { method: "POST", target: "/", headers: [], body: JSON.stringify(request) },
      startedMs: 0,
      startedAt: "",
      received: pieces.map((piece, index) => ({ atMs: index, bytes: piece })),
      end: "closed",
      endedMs: 0,
      leaks: [],
    }),
  );
}

const faultsIn = (stream: Transcript): string[] =>
  rules.flatMap(({ clause, faultOf }) => (faultOf(stream) === undefined ? [] : [clause]));

async function requestOf(example: string): Promise<object> {
  const media = document.paths["/v1/chat/completions"]?.post?.responses["200"]?.content?.["text/event-stream"];
  const inputs = media?.["x-transcripts"]?.[example]?.["x-inputs"] ?? { n: 1, include_usage: false };
  return { n: inputs.n, stream: true, stream_options: { include_usage: inputs.include_usage }, messages: [] };
}

describe("the rules of streams agree with the machine of the contract", () => {
  test.each(legal.filter(([, , , end]) => end === "done" || end === "failed"))(
    "%s is right",
    async (_title, example, change) => {
      const stream = received(write(change(await readExample(example))), await requestOf(example));
      expect(faultsIn(stream)).toEqual([]);
      expect(stream.violation).toBeUndefined();
    },
  );

  test.each(broken)("%s is wrong", async (_title, example, change) => {
    const stream = received(write(change(await readExample(example))), await requestOf(example));
    expect([...faultsIn(stream), ...(stream.violation === undefined ? [] : [stream.violation])]).not.toEqual([]);
  });
});

describe("legal spellings of a stream change no verdict", () => {
  const spellings: readonly (readonly [title: string, spell: (text: string) => string])[] = [
    ["CRLF", (text) => text.replaceAll("\n", "\r\n")],
    ["CR", (text) => text.replaceAll("\n", "\r")],
    ["no blank behind data:", (text) => text.replaceAll("data: ", "data:")],
    ["comments between events", (text) => text.replaceAll("\n\n", "\n\n: keep-alive\n\n")],
    ["a comment at the very beginning", (text) => `: hello\n\n${text}`],
    [
      "another order of the members",
      (text) => text.replaceAll(/data: (\{.*\})/g, (_all, json: string) => `data: ${reversed(json)}`),
    ],
  ];
  test.each(spellings.flatMap(([title, spell]) => [1, 2, 7, 100_000].map((size) => [title, size, spell] as const)))(
    "%s, in pieces of %i bytes",
    async (_title, size, spell) => {
      for (const example of ["plain", "usage", "tools", "choices", "reasoning", "logprobs"]) {
        const stream = received(spell(write(await readExample(example))), await requestOf(example), size);
        expect(faultsIn(stream)).toEqual([]);
      }
    },
  );
});

const reversed = (json: string): string =>
  JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toReversed())
      : value,
  );

test.each(clauses.map(({ id }) => id))("%s is explained, with a command to try", (id) => {
  const profile = {
    levels: [],
    origin: "https://api.example",
    basePath: "/v1",
    keyRoles: [],
    extraHeaders: [],
    isProbing: false,
    isExhaustive: true,
    seed: 0,
  };
  const text = explainClause(id, profile, "API_KEY") ?? "";
  expect(text).toContain(`Why it matters: ${clauseOf.get(id)?.why}`);
  expect(text).toContain(`How to comply: ${clauseOf.get(id)?.comply}`);
  expect(text).toMatch(/How it is checked: \w|Why there is no check: \w/);
  expect(text).toMatch(/curl -sS|printf /);
});
