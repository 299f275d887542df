import { readFileSync, readdirSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeEvents, decodeLines } from "./stream-chunks.ts";

async function* feed(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

const encoder = new TextEncoder();

async function decode(...pieces: readonly Uint8Array[]): Promise<string[]> {
  return Array.fromAsync(decodeEvents(decodeLines(feed(pieces))));
}

/** Cuts the bytes at these offsets. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const edges = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

const examples = new URL("../../../openapi/examples/", import.meta.url);
const streams = readdirSync(examples)
  .filter((name) => name.endsWith(".sse"))
  .map((name) => [name, readFileSync(new URL(name, examples), "utf8")] as const);

test.each(streams)("decodes %s the same, cut at every byte", async (_name, text) => {
  const bytes = encoder.encode(text);
  const whole = await decode(bytes);
  expect(whole).toEqual(text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : [])));
  expect(await decode(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
});

const character = fc.constantFrom("a", " ", ":", "é", "汉", "🜁", "\0", "\u2028", "\uFEFF", "data");
const line = fc.oneof(
  fc.string({ unit: character }).map((text) => `data:${text}`),
  fc.string({ unit: character }).map((text) => `: ${text}`),
  fc.string({ unit: character }).map((text) => text.replace(/^\uFEFF+/, "")),
  fc.constantFrom("data", "event: x", "id: 1", "retry: 10", "DATA: no", "data : no", "database: no", ""),
);

/** The algorithm of the HTML standard, line by line, as simply as possible. */
function expectedEvents(lines: readonly string[]): string[] {
  const events: string[] = [];
  let data: string[] = [];
  for (const one of lines) {
    if (one === "" && data.length > 0) events.push(data.join("\n"));
    if (one === "") data = [];
    const colon = one.indexOf(":");
    const [field, value] = colon < 0 ? [one, ""] : [one.slice(0, colon), one.slice(colon + 1)];
    if (field === "data") data.push(value.startsWith(" ") ? value.slice(1) : value);
  }
  return events;
}

test("decodes the same events however the bytes are cut and the lines end", async () => {
  const lineEnd = fc.constantFrom("\n", "\r", "\r\n");
  const ended = fc.array(fc.tuple(line, lineEnd));
  await fc.assert(
    fc.asyncProperty(ended, line, fc.array(fc.nat()), fc.boolean(), async (lines, rest, places, hasMark) => {
      // An LF right after a CR would be a part of a CRLF, and so a different text.
      const isSplit = lines.some(([text, end], index) => text === "" && end === "\n" && lines[index - 1]?.[1] === "\r");
      fc.pre(!isSplit && !(rest.startsWith("\uFEFF") && lines.length === 0));
      const text = `${hasMark ? "\uFEFF" : ""}${lines.map(([one, end]) => one + end).join("")}${rest}`;
      const events = await decode(...cut(encoder.encode(text), places));
      expect(events).toEqual(expectedEvents(lines.map(([one]) => one)));
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["a space after the colon is optional, and only one is dropped", "data:a\n\ndata:  b\n\n", ["a", " b"]],
  ["several data lines are joined", "data: a\ndata: b\n\n", ["a\nb"]],
  ["a data line without a colon is an empty line of text", "data\ndata: a\n\n", ["\na"]],
  ["comments and other fields are skipped", ": hello\nevent: x\nid: 1\nretry: 5\nfoo: bar\ndata: a\n\n", ["a"]],
  ["an event without data is skipped", "event: ping\n\n: keep-alive\n\ndata: a\n\n", ["a"]],
  ["an event without an empty line after it is dropped", "data: a\n\ndata: [DONE]\n", ["a"]],
  ["a byte order mark is dropped", "\uFEFFdata: a\n\n", ["a"]],
] as const)("%s", async (_title, text, events) => {
  expect(await decode(encoder.encode(text))).toEqual(events);
});

test("reads a CRLF as one line end, even with an empty piece between CR and LF", async () => {
  const pieces = ["data: a\r", "", "\ndata: b\r\n\r", "", "\n"].map((text) => encoder.encode(text));
  expect(await decode(...pieces)).toEqual(["a\nb"]);
});

test("yields an event with its last byte, even if that is a CR", async () => {
  let pulled = 0;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const text of ["data: a\r\r", "data: b\r\r"]) {
      pulled += 1;
      yield encoder.encode(text);
    }
  }
  const events = decodeEvents(decodeLines(bytes()));
  expect(await events.next()).toEqual({ done: false, value: "a" });
  expect(pulled).toBe(1);
  await events.return();
});
