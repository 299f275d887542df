import type { GgufFileInfo } from "node-llama-cpp";
import { isSpecialSpelling } from "../../prompt/special-tokens.ts";
import { bytesOfByteLevel, bytesOfSentencePiece, utf8 } from "../../prompt/token-bytes.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";

/** The token types of GGUF (`tokenizer.ggml.token_type`) that matter here. */
const tokenType = { unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/** The vocabulary in a GGUF file: node-llama-cpp gives text, and a token may be half a character. */
export function readVocabulary(file: GgufFileInfo): Vocabulary {
  const { tokens, model } = file.metadata.tokenizer.ggml;
  const types: readonly number[] = file.metadata.tokenizer.ggml.token_type;
  const template = file.metadata.tokenizer.chat_template ?? "";
  const toBytes = model === "gpt2" ? bytesOfByteLevel : bytesOfSentencePiece;
  const specialTokens = new Map<string, number>();
  for (const [id, spelling] of tokens.entries()) {
    if (spelling !== "" && isSpecialToken(spelling, types[id], template)) specialTokens.set(spelling, id);
  }
  const known: (readonly number[] | undefined)[] = [];
  const read = (id: number): readonly number[] => {
    const spelling = tokens[id] ?? "";
    if (types[id] === tokenType.control) return [];
    if (types[id] === tokenType.userDefined) return utf8(spelling);
    return types[id] === tokenType.byte ? [Number.parseInt(spelling.slice(3, -1), 16)] : toBytes(spelling);
  };
  return {
    size: tokens.length,
    bytesOf: (id) => (known[id] ??= read(id)),
    spellingOf: (id) => tokens[id] ?? "",
    specialTokenId: (spelling) => specialTokens.get(spelling),
    specialTokens: [...specialTokens.keys()],
  };
}

function isSpecialToken(spelling: string, type: number | undefined, template: string): boolean {
  if (type === tokenType.control || type === tokenType.unknown || type === tokenType.unused) return true;
  return type === tokenType.userDefined && isSpecialSpelling(spelling, template);
}
