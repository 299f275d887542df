import { countersOf, eventSpelling } from "../event-spelling.ts";
import type { CompletionChunk } from "./read-completion.ts";

const text = String.raw`"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"`;

const spelling = eventSpelling(
  "text_completion",
  String.raw`"text":${text},"logprobs":null,"finish_reason":null(?:,"\w+":null)*,"token_ids":\[(\d+(?:,\d+)*)\]`,
);

/** Events that follow each other, and the chunk that adds as much as all of them. */
export interface TokenRun {
  readonly events: number;
  readonly chunk: CompletionChunk;
}

/**
 * Reads events that add tokens of text without log-probabilities, all with counters or all without.
 * @param isText whether a token is no more than text
 * @returns undefined where there is none
 */
export function readTokenRun(
  events: readonly string[],
  from: number,
  isText: (id: number) => boolean,
): TokenRun | undefined {
  const token_ids: number[] = [];
  let last: RegExpExecArray | undefined;
  let at = from;
  for (; at < events.length; at += 1) {
    const found = spelling.exec(events[at] ?? "");
    if (!found || (last && (found[2] === undefined) !== (last[2] === undefined))) break;
    const ids = idsOf(found);
    if (!ids.every(isText)) break;
    for (const id of ids) token_ids.push(id);
    last = found;
  }
  if (!last) return undefined;
  return { events: at - from, chunk: { choices: [{ token_ids }], ...countersOf(last[2], last[3]) } };
}

const idsOf = ([, ids = ""]: RegExpExecArray): number[] => ids.split(",").map(Number);

/** Reads an event that adds tokens without log-probabilities. @returns undefined for any other event: it has to be parsed */
export function readTokenChunk(data: string): CompletionChunk | undefined {
  const found = spelling.exec(data);
  if (!found) return undefined;
  return { choices: [{ token_ids: idsOf(found) }], ...countersOf(found[2], found[3]) };
}
