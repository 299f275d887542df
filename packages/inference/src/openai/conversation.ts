import type { PromptRequest } from "../engine.ts";
import type { ServedModel } from "./protocol-adapter.ts";

/**
 * Hashes of the beginnings of a prompt, by which the next turn of its conversation is recognised. Each hash covers the
 * messages from the first one on, and the salt of the key, because an engine reuses a prompt for one salt only.
 */
export interface Conversation {
  /**
   * Covers the caller's `prompt_cache_key`, or without one the messages up to the first one that is not a system message. All
   * turns of a conversation have it in common.
   */
  readonly opening: number;
  /** Covers the messages up to each one that is not a system message, in order. */
  readonly turns: readonly number[];
  /** Covers the prompt up to each block of its long messages, in order. A message that grows keeps its first blocks. */
  readonly blocks: readonly number[];
  /** The last block of the last message, if that message is long. */
  readonly lastBlock: number | undefined;
}

const blockCharacters = 128;

/** A shorter message has no blocks: its last block might cover only an instruction that many conversations share. */
const minLongCharacters = 8 * blockCharacters;

/**
 * Hashes a conversation in one pass over its text. Messages stand for their tokens, so both protocols can use the hashes.
 * @returns undefined if there is one endpoint only, and for a probe, which belongs to no conversation
 */
export function findConversation(
  { upstream, saltOf }: Pick<ServedModel, "upstream" | "saltOf">,
  { messages, origin }: Pick<PromptRequest, "messages" | "origin">,
): Conversation | undefined {
  if (origin === undefined || !upstream.hasChoice) return undefined;
  const hash = new PrefixHash();
  const salt = saltOf?.({ key: origin.placedAs ?? origin.key }) ?? "";
  hash.add(salt);
  const [turns, blocks]: [number[], number[]] = [[], []];
  let lastBlock: number | undefined;
  for (const message of messages) {
    const found = addMessage(hash, JSON.stringify(message));
    blocks.push(...found);
    lastBlock = found.at(-1);
    if (message.role !== "system" && message.role !== "developer") turns.push(hash.value);
  }
  const named = origin.cacheKey === undefined ? undefined : hashOf(JSON.stringify([salt, origin.cacheKey]));
  return { opening: named ?? turns[0] ?? hash.value, turns, blocks, lastBlock };
}

/** @returns a hash for each block, if the message is long */
function addMessage(hash: PrefixHash, text: string): number[] {
  const blocks: number[] = [];
  for (let from = 0; from < text.length; from += blockCharacters) {
    hash.add(text.slice(from, from + blockCharacters));
    // The last two characters close the JSON object, so a message that grows loses them.
    const isFull = from + blockCharacters <= text.length - 2;
    if (isFull && text.length >= minLongCharacters) blocks.push(hash.value);
  }
  return blocks;
}

/** A hash of all text so far. It only decides where a request is sent, so it is fast and not cryptographic. */
class PrefixHash {
  #high = 0x9e37_79b9;
  #low = 0x85eb_ca6b;

  add(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      this.#high = Math.imul(this.#high ^ unit, 0x9e37_79b1);
      this.#low = Math.imul(this.#low ^ unit, 0x5f35_6495);
    }
  }

  /** An integer of 53 bits. */
  get value(): number {
    return mixHashes(this.#high, this.#low);
  }
}

/** Returns the hash of one text, an integer of 53 bits. */
export function hashOf(text: string): number {
  const hash = new PrefixHash();
  hash.add(text);
  return hash.value;
}

/** Mixes the lower 32 bits of two hashes into an integer of 53 bits. */
export function mixHashes(first: number, second: number): number {
  let [a, b] = [first | 0, second | 0];
  for (let round = 0; round < 2; round += 1) {
    a = Math.imul(a ^ (a >>> 16), 0x85eb_ca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2_ae35);
    b = Math.imul(b ^ (b >>> 16), 0x85eb_ca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2_ae35);
  }
  return (a >>> 11) * 0x1_0000_0000 + (b >>> 0);
}
