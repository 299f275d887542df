import type { GgufFileInfo } from "node-llama-cpp";
import { describe, expect, test } from "vitest";
import { readMiniVocabulary } from "../../../test/start-engines.ts";
import { readVocabulary } from "./vocabulary.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";

const type = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 };

/** A vocabulary of these tokens. */
function vocabularyOf(model: string, tokens: readonly (readonly [string, number])[], template = ""): Vocabulary {
  const ggml = { model, tokens: tokens.map(([spelling]) => spelling), token_type: tokens.map(([, kind]) => kind) };
  // Nothing else of a file's header is read.
  return readVocabulary({ metadata: { tokenizer: { chat_template: template, ggml } } } as unknown as GgufFileInfo);
}

describe("the bytes of a token", () => {
  test.each([
    ["printable characters stand for themselves", "gpt2", "abc!", type.normal, [97, 98, 99, 33]],
    ["others are shifted", "gpt2", "ĠĊ\u0100", type.normal, [32, 10, 0]],
    ["half a character", "gpt2", "âĢ", type.normal, [0xe2, 0x80]],
    ["the soft hyphen, which is not printable", "gpt2", "\u0143", type.normal, [0xad]],
    ["text of a user's own", "gpt2", "<think>", type.userDefined, [...Buffer.from("<think>")]],
    ["a control token writes nothing", "gpt2", "<|im_end|>", type.control, []],
    ["blanks of SentencePiece", "llama", "▁Hello▁é", type.normal, [...Buffer.from(" Hello é")]],
    ["a byte of SentencePiece", "llama", "<0x0A>", type.byte, [10]],
  ])("%s", (_title, model, spelling, kind, want) => {
    const vocabulary = vocabularyOf(model, [[spelling, kind]]);
    expect([vocabulary.bytesOf(0), vocabulary.spellingOf(0)]).toEqual([want, spelling]);
  });

  test("of a byte-level vocabulary cover every byte once", async () => {
    const { bytesOf, size } = await readMiniVocabulary().then((one) => ({
      ...one,
      bytesOf: (id: number) => one.bytesOf(id),
    }));
    const single = Array.from({ length: size }, (_, id) => bytesOf(id)).filter((bytes) => bytes.length === 1);
    expect(new Set(single.flat()).size).toBe(256);
  });
});

test("special tokens are those that the template or the tokenizer gives a meaning, not every token that is flagged as special", () => {
  const tokens: [string, number][] = [
    ["a", type.normal],
    ["<unk>", type.unknown],
    ["<|im_end|>", type.control],
    ["<tool_call>", type.userDefined],
    ["<|fim_prefix|>", type.userDefined],
    ["<begin>", type.userDefined],
    ["<td>", type.userDefined],
    ["\n\n", type.userDefined],
    ["<|unused_1|>", type.unused],
    ["<think>", type.normal],
  ];
  const vocabulary = vocabularyOf("gpt2", tokens, "{{ '<begin>\n\n' }}");
  expect(vocabulary.specialTokens).toEqual([
    "<unk>",
    "<|im_end|>",
    "<tool_call>",
    "<|fim_prefix|>",
    "<begin>",
    "<|unused_1|>",
  ]);
  expect([
    vocabulary.specialTokenId("<begin>"),
    vocabulary.specialTokenId("<td>"),
    vocabulary.specialTokenId("<think>"),
  ]).toEqual([5, undefined, undefined]);
});
