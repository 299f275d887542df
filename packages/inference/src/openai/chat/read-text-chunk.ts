import { countersOf, eventSpelling, readRun } from "../event-spelling.ts";
import type { EventRun } from "../event-spelling.ts";
import type { ChatChunk } from "./chat-chunk.ts";

const spelling = eventSpelling(
  "chat\\.completion\\.chunk",
  String.raw`"delta":\{"(content|reasoning)":"([^"\\\x00-\x1f]*)"\}(?:,"logprobs":null)?,"finish_reason":null(?:,"\w+":null)*`,
);

/** Reads an event that adds text without escapes. @returns undefined for any other event, which has to be parsed */
export function readTextChunk(data: string): ChatChunk | undefined {
  const found = spelling.exec(data);
  if (!found) return undefined;
  const [, member, text = ""] = found;
  const delta = member === "content" ? { content: text } : { reasoning: text };
  return { choices: [{ delta }], ...countersOf(found) };
}

/** Reads events that add text without escapes to the content. @returns undefined if the first event is a different one */
export function readTextRun(events: readonly string[], from: number): EventRun<ChatChunk> | undefined {
  let content = "";
  const run = readRun(spelling, events, from, ([, member, text = ""]) => {
    // An event without text does not count as a token.
    const isText = member === "content" && text !== "";
    if (isText) content += text;
    return isText;
  });
  return run && { events: run.events, chunk: { choices: [{ delta: { content } }], ...run.counters } };
}
