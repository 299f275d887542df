import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCuts, bytesOf, everyCut } from "../../test/cuts.ts";
import { spell } from "../../testing/requests.ts";
import type { OutputToken } from "../engine.ts";
import { ContentText } from "./content-text.ts";

interface Read {
  readonly text: string;
  readonly tokens: readonly OutputToken[];
  readonly isStopped: boolean;
  /** True while text and tokens are in step: no text came without its tokens, and no token came before its text. */
  readonly isInStep: boolean;
}

/** Feeds tokens as the child does: until a stop string ends the content, or to the end and then flushes. */
function read(parts: readonly (readonly number[])[], stops: readonly string[]): Read {
  const content = new ContentText(stops);
  const tokens: OutputToken[] = [];
  let text = "";
  let isInStep = true;
  for (const [id, bytes] of parts.entries()) {
    const shown = content.push({ id, token: "", bytes });
    text += shown.text;
    tokens.push(...shown.tokens);
    isInStep &&= spell(tokens).startsWith(text) && (shown.tokens.length === 0 || shown.text !== "");
    if (shown.isStopped) return { text, tokens, isStopped: true, isInStep };
  }
  const last = content.flush();
  tokens.push(...last.tokens);
  return { text: text + last.text, tokens, isStopped: last.isStopped, isInStep };
}

const text = "One 🦀 and “two” – three\u0000 é";

describe("the content of a choice", () => {
  test.each([
    ["nothing to stop at", [], text, false],
    ["a stop string in the middle", ["two"], "One 🦀 and “", true],
    ["at the beginning", ["One"], "", true],
    ["at the end", [" é"], "One 🦀 and “two” – three\u0000", true],
    ["one of several bytes", ["“"], "One 🦀 and ", true],
    ["the one that is complete first", ["and “two", "“tw"], "One 🦀 and ", true],
    ["only begun at the end", [" é and more", "🦀!"], text, false],
    ["half a surrogate pair", ["\uD83E", "\uDD80"], text, false],
  ])("%s, however the bytes are cut", (_title, stops, want, isStopped) => {
    for (const parts of [...everyCut(bytesOf(text)), bytesOf(text).map((byte) => [byte])]) {
      const got = read(parts, stops);
      expect(got).toMatchObject({ text: want, isStopped, isInStep: true });
    }
  });

  test("all tokens of a text that was not stopped spell it exactly", () => {
    for (const parts of everyCut(bytesOf(text))) {
      const { tokens } = read(parts, ["never"]);
      expect(tokens.map((token) => token.id)).toEqual(parts.map((_part, index) => index));
    }
  });

  test("text and stop strings of any kind, in parts of any length", () => {
    const alphabet = fc.constantFrom("a", "b", "é", "🦀", "\n");
    const short = fc.string({ unit: alphabet, minLength: 1, maxLength: 3 });
    const given = fc
      .string({ unit: alphabet, maxLength: 20 })
      .chain((whole) => fc.tuple(fc.constant(whole), anyCuts(bytesOf(whole))));
    fc.assert(
      fc.property(given, fc.array(short, { maxLength: 4 }), ([whole, parts], stops) => {
        const got = read(parts, stops);
        const ends = stops.filter((stop) => whole.includes(stop)).map((stop) => whole.indexOf(stop) + stop.length);
        const end = Math.min(...ends);
        const starts = stops
          .filter((stop) => whole.indexOf(stop) + stop.length === end && whole.includes(stop))
          .map((stop) => end - stop.length);
        expect(got.text).toBe(ends.length === 0 ? whole : whole.slice(0, Math.min(...starts)));
        expect(got).toMatchObject({ isStopped: ends.length > 0, isInStep: true });
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ["a character that is never completed", [[0x61], [0xf0, 0x9f], [0xa6]], "a\uFFFD"],
    ["a character that breaks off in another one", [[0xe2], [0x82], [0x62]], "\uFFFDb"],
    ["a byte that begins nothing", [[0xff], [0x80], [0x63]], "\uFFFD\uFFFDc"],
    ["a byte order mark", [[0xef], [0xbb, 0xbf], [0x64]], "\uFEFFd"],
    ["a token without bytes", [[0x65], [], [0x66]], "ef"],
  ])("%s costs no token its place", (_title, parts, want) => {
    const got = read(parts, []);
    expect(got.text).toBe(want);
    expect(got.tokens).toHaveLength(parts.length);
  });

  test("text that cannot become a stop string is shown at once", () => {
    const content = new ContentText(["xyz"]);
    const emitted = ["ax", "y", "b"].map((token) => content.push({ id: 0, token, bytes: bytesOf(token) }).text);
    expect(emitted).toEqual(["a", "", "xyb"]);
  });
});
