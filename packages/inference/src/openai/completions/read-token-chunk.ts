import { countersOf, eventSpelling } from "../event-spelling.ts";
import type { CompletionChunk } from "./read-completion.ts";

const text = String.raw`"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"`;

const spelling = eventSpelling(
  "text_completion",
  String.raw`"text":${text},"logprobs":null,"finish_reason":null(?:,"\w+":null)*,"token_ids":\[(\d+(?:,\d+)*)\]`,
);

/** Reads an event that adds tokens without log-probabilities. @returns undefined for any other event: it has to be parsed */
export function readTokenChunk(data: string): CompletionChunk | undefined {
  const found = spelling.exec(data);
  if (!found) return undefined;
  const [, ids = "", prompt, completion] = found;
  return { choices: [{ token_ids: ids.split(",").map(Number) }], ...countersOf(prompt, completion) };
}
