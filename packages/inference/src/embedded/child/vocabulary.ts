import type { GgufFileInfo } from "node-llama-cpp";
import { mark } from "../../prompt/marks.ts";

/** The token types of GGUF (`tokenizer.ggml.token_type`) that matter here. */
const tokenType = { unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/** What a token id stands for, read from the model file: node-llama-cpp gives text, and a token may be half a character. */
export interface Vocabulary {
  readonly size: number;
  /** The raw bytes that a token writes; none for a control token. */
  bytesOf(token: number): readonly number[];
  /** The spelling, control tokens included. */
  spellingOf(token: number): string;
  /** The token that is spelled exactly so and is more than text (`<tool_call>`), or undefined. */
  readonly markNamed: (spelling: string) => number | undefined;
  /** Every spelling that a template could give a meaning to. */
  readonly marks: readonly string[];
}

export function readVocabulary(file: GgufFileInfo): Vocabulary {
  const { tokens, model } = file.metadata.tokenizer.ggml;
  const types: readonly number[] = file.metadata.tokenizer.ggml.token_type;
  const template = file.metadata.tokenizer.chat_template ?? "";
  const toBytes = model === "gpt2" ? bytesOfByteLevel : bytesOfSentencePiece;
  const marks = new Map<string, number>();
  for (const [id, spelling] of tokens.entries()) {
    if (spelling !== "" && isMark(spelling, types[id], template)) marks.set(spelling, id);
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
    markNamed: (spelling) => marks.get(spelling),
    marks: [...marks.keys()],
  };
}

/**
 * Some vocabularies list white space and HTML as user-defined tokens: those are text. What the template writes, and what
 * is spelled with the bars that no text has, means something.
 */
function isMark(spelling: string, type: number | undefined, template: string): boolean {
  if (type === tokenType.control || type === tokenType.unknown || type === tokenType.unused) return true;
  if (type !== tokenType.userDefined) return false;
  return (
    Object.values<string>(mark).includes(spelling) ||
    /^<\|.*\|>$/.test(spelling) ||
    (/\S\S/.test(spelling) && template.includes(spelling))
  );
}

const encoder = new TextEncoder();
const utf8 = (text: string): readonly number[] => [...encoder.encode(text)];

const bytesOfSentencePiece = (spelling: string): readonly number[] => utf8(spelling.replaceAll("▁", " "));

/**
 * Byte-level BPE writes every byte as a printable character: printable Latin-1 stands for itself, the 68 others are
 * numbered from U+0100 on (GPT-2's encoder, since copied by every byte-level tokenizer).
 */
const byteOfCharacter = new Map<string, number>();
for (let byte = 0, shifted = 0x100; byte < 256; byte += 1) {
  const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  byteOfCharacter.set(String.fromCodePoint(isPrintable ? byte : shifted++), byte);
}

const bytesOfByteLevel = (spelling: string): readonly number[] =>
  Array.from(spelling).flatMap((character) => {
    const byte = byteOfCharacter.get(character);
    return byte === undefined ? utf8(character) : [byte];
  });
