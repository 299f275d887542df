import { array, assert, constantFrom, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { TokenText } from "./token-text.ts";

test("gives the text that a decoder gives, wherever the bytes are split", () => {
  const byte = constantFrom(0x00, 0x0a, 0x41, 0x7f, 0x80, 0xbd, 0xbf, 0xc3, 0xa9, 0xe2, 0xef, 0xf0, 0x9f, 0xa6, 0xff);
  assert(
    property(array(array(byte, { maxLength: 4 })), integer({ min: 0, max: 20 }), (parts, flushAt) => {
      const text = new TokenText();
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      for (const [at, bytes] of parts.entries()) {
        expect(text.push(bytes)).toBe(decoder.decode(Uint8Array.from(bytes), { stream: true }));
        if (at === flushAt) expect(text.flush()).toBe(decoder.decode());
      }
      expect(text.flush()).toBe(decoder.decode());
    }),
    { numRuns: 1000 },
  );
});

test("a text may be longer than a function can have arguments", () => {
  const bytes = Array.from({ length: 200_000 }, () => 0x61);
  expect(new TokenText().push(bytes)).toBe("a".repeat(200_000));
});
