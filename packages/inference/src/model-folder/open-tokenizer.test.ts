import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Tokenizer } from "@huggingface/tokenizers";
import { array, assert, lorem, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { miniFolder } from "../../testing/start-scripted-vllm.ts";
import { readModelFolder } from "./model-folder.ts";
import { openTokenizer } from "./open-tokenizer.ts";

const folder = readModelFolder(miniFolder);
const { file, config } = folder.tokenizer;

const library = new Tokenizer(file, config);
const expected = (text: string): number[] => library.encode(text.toWellFormed(), { add_special_tokens: false }).ids;
const tokenize = openTokenizer(folder);

test.each([
  "Which attacks\ndoes that open?  \n\n\tNone.",
  "tab\t, return\r\n, DEL\u{7f}, NUL\0, no-break\u{a0}blank",
  "naïve Ġ Ċ 以太坊 🦊 \ud800",
  "<|im_start|>user\nhi<|im_end|>\n",
  "",
])("%j has the tokens that the library gives it", (text) => {
  expect(tokenize(text)).toEqual(expected(text));
});

test("any text has the library's tokens", () => {
  const text = oneof(string({ unit: "binary-ascii" }), string({ unit: "grapheme" }), lorem());
  assert(
    property(array(text), (parts) => {
      expect(tokenize(parts.join(""))).toEqual(expected(parts.join("")));
    }),
  );
});

/** The first pre-tokenizers of GPT-2 split the text themselves, and some put a blank in front of it. */
test.each([
  { type: "ByteLevel", add_prefix_space: true, use_regex: true },
  { type: "ByteLevel", add_prefix_space: true, use_regex: false },
  { type: "ByteLevel", add_prefix_space: false },
])("pre-tokenizers with other settings keep their meaning: %j", (pre_tokenizer) => {
  const other = { file: { ...file, pre_tokenizer }, config };
  const plain = new Tokenizer(other.file, config);
  const text = "One two\nthree  four";
  expect(openTokenizer({ tokenizer: other })(text)).toEqual(plain.encode(text, { add_special_tokens: false }).ids);
});

const split = (pattern: string, behavior = "Isolated", invert = false): object => ({
  type: "Split",
  pattern: { Regex: pattern },
  behavior,
  invert,
});
const cutBy = (...cutters: readonly object[]): object => ({
  pre_tokenizer: {
    type: "Sequence",
    pretokenizers: [...cutters, { type: "ByteLevel", add_prefix_space: false, use_regex: false }],
  },
});
const firstAdded = (change: object): object => ({
  added_tokens: file.added_tokens?.map((token, at) => (at === 0 ? { ...token, ...change } : token)),
});

test.each([
  ["a normal form", { normalizer: { type: "NFC" } }],
  ["another normalizer", { normalizer: { type: "Lowercase" } }],
  ["a special token that takes the blanks around it", firstAdded({ lstrip: true, rstrip: true })],
  ["a special token that is normalized", { ...firstAdded({ normalized: true }), normalizer: { type: "Lowercase" } }],
  ["no special tokens", { added_tokens: [] }],
  ["a normalizer that does nothing", { normalizer: { type: "Sequence", normalizers: [] } }],
  ["words that are not all of the text", cutBy(split("[a-z]+"))],
  ["words that may be empty", cutBy(split("[a-z]*"))],
  ["words that are removed", cutBy(split("[a-z]+", "Removed"))],
  ["only the words of a pattern", cutBy(split("[a-z]+", "Removed", true))],
  [
    "several patterns and digits",
    cutBy(split("[\\r\\n]"), split("\\s?\\p{L}+"), { type: "Digits", individual_digits: true }),
  ],
  ["digits alone", cutBy({ type: "Digits", individual_digits: true })],
  ["another first step", cutBy({ type: "Punctuation" })],
])("a tokenizer with %s gives what the library gives", (_title, change) => {
  const other = { ...file, ...change };
  const text = `One  e\u0301té ${file.added_tokens?.[0]?.content} two, <|im_end|>\nTHREE 456`;
  expect(openTokenizer({ tokenizer: { file: other, config } })(text)).toEqual(
    new Tokenizer(other, config).encode(text, { add_special_tokens: false }).ids,
  );
});

test("repeated words get the same tokens, also after more words than the cache keeps", () => {
  const words = Array.from({ length: 12_000 }, (_, at) => `w${at.toString(36)} été${at}`).join(" ");
  expect(tokenize(words)).toEqual(expected(words));
  expect(tokenize(words)).toEqual(expected(words));
});

/** V8 stores a word of 13 characters or more as a reference to its text. */
test("a long word in the cache does not keep its text in memory", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void; // the flag defines it
  const fill = " and so on".repeat(4000);
  const letters = "abcdefghijklmnopqrstuvwxyz";
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 300; at += 1) {
    const word = Array.from({ length: 20 }, (_, place) => letters[(at * 7 + place * place + (at >> place)) % 26]);
    tokenize(word.join("") + fill);
  }
  collect();
  // The texts alone take 12 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4e6);
});
