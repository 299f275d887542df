import { createParser } from "eventsource-parser";
import { array, assert, constantFrom, nat, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { EventReader } from "./event-reader.ts";

/** The events that the parser alone finds in all bytes at once. */
function parse(bytes: Buffer): string[] {
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) });
  parser.feed(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  return events;
}

function readInPieces(bytes: Buffer, cuts: readonly number[]): string[] {
  const reader = new EventReader();
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted((a, b) => a - b);
  return ends.flatMap((end, at) => [...reader.push(bytes.subarray(ends[at - 1] ?? 0, end))]);
}

const eventLine = string({ unit: "grapheme" }).map((text) => `data: ${JSON.stringify(text)}\n\n`);
const oddLine = constantFrom(
  ": keep-alive\n\n",
  ":\n",
  "\n",
  "\n\n",
  "\r",
  "\r\n\r\n",
  "data:x\n\n",
  "data: a\ndata: b\n\n",
  "data: a\rdata: b\n\n",
  "data: cut",
  "event: e\ndata: x\n\n",
  "id: 1\n\n",
  "\u{feff}data: x\n\n",
  "data: é😀\n\n",
);
const invalid = constantFrom([0xff], [0xc3], [0xf0, 0x9f], [0xf0, 0x9f, 0x0a, 0x0a], [0x0a, 0x0a]);
const piece = oneof(
  { weight: 4, arbitrary: eventLine.map((line) => Buffer.from(line)) },
  { weight: 3, arbitrary: oddLine.map((line) => Buffer.from(line)) },
  { weight: 1, arbitrary: invalid.map((bytes) => Buffer.from(bytes)) },
);

test("reads the same events as the parser, wherever the bytes are split", () => {
  assert(
    property(array(piece), array(nat()), (pieces, cuts) => {
      const bytes = Buffer.concat(pieces);
      expect(readInPieces(bytes, cuts)).toEqual(parse(bytes));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["one line", "x".repeat(2 ** 20)],
  ["many lines", `${"x".repeat(1000)}\ndata: `.repeat(1000)],
])("an event of %s without an end fails before it fills the memory", (_title, text) => {
  const reader = new EventReader();
  reader.push(Buffer.from("data: "));
  const bytes = Buffer.from(text);
  expect(() => {
    for (let count = 0; count < 100; count += 1) reader.push(bytes);
  }).toThrow("the engine wrote an event without an end");
});

test("also where the bytes are split between events", () => {
  assert(
    property(array(piece), (pieces) => {
      const reader = new EventReader();
      expect(pieces.flatMap((bytes) => [...reader.push(bytes)])).toEqual(parse(Buffer.concat(pieces)));
    }),
    { numRuns: 2000 },
  );
});
