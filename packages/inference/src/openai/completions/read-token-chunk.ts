import { countersOf, eventSpelling, readRun } from "../event-spelling.ts";
import type { EventRun } from "../event-spelling.ts";
import type { CompletionChunk } from "./read-completion.ts";

const text = String.raw`"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"`;

const spelling = eventSpelling(
  "text_completion",
  String.raw`"text":${text},"logprobs":null,"finish_reason":null(?:,"\w+":null)*,"token_ids":\[(\d+(?:,\d+)*)\]`,
);

/** Reads an event that adds tokens without log-probabilities. @returns undefined for any other event, which has to be parsed */
export function readTokenChunk(data: string): CompletionChunk | undefined {
  const found = spelling.exec(data);
  return found ? { choices: [{ token_ids: idsOf(found) }], ...countersOf(found) } : undefined;
}

/**
 * Reads events that add tokens of text without log-probabilities.
 * @param isText true for a plain text token
 * @returns undefined if the first event is a different one
 */
export function readTokenRun(
  events: readonly string[],
  from: number,
  isText: (id: number) => boolean,
): EventRun<CompletionChunk> | undefined {
  const token_ids: number[] = [];
  const run = readRun(spelling, events, from, (found) => {
    const ids = idsOf(found);
    const areText = ids.every(isText);
    if (areText) token_ids.push(...ids);
    return areText;
  });
  return run && { events: run.events, chunk: { choices: [{ token_ids }], ...run.counters } };
}

const idsOf = ([, ids = ""]: RegExpExecArray): number[] => ids.split(",").map(Number);
