import type { GgufFileInfo } from "node-llama-cpp";
import { buildVocabulary } from "../../prompt/build-vocabulary.ts";
import type { TokenKind } from "../../prompt/build-vocabulary.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";

/** The token types of GGUF (`tokenizer.ggml.token_type`): unknown, control, user-defined, unused, byte; the rest is text. */
const kinds: Readonly<Record<number, TokenKind>> = {
  2: "reserved",
  3: "control",
  4: "added",
  5: "reserved",
  6: "byte",
};

/**
 * The vocabulary in a GGUF file. It is read as bytes, because a token may be half a character and node-llama-cpp decodes to
 * text.
 */
export function readVocabulary(file: GgufFileInfo): Vocabulary {
  const { tokens, model, token_type: types } = file.metadata.tokenizer.ggml;
  const kindOf = (id: number): TokenKind => kinds[types[id] ?? 0] ?? "text";
  const list = { spellings: tokens, encoding: model === "gpt2" ? "byte-level" : "sentence-piece", kindOf } as const;
  return buildVocabulary(list, file.metadata.tokenizer.chat_template ?? "");
}
