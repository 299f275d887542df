import { countersOf, eventSpelling } from "../event-spelling.ts";
import type { ChatChunk } from "./chat-chunk.ts";

const spelling = eventSpelling(
  "chat\\.completion\\.chunk",
  String.raw`"delta":\{"(content|reasoning)":"([^"\\\x00-\x1f]*)"\}(?:,"logprobs":null)?,"finish_reason":null(?:,"\w+":null)*`,
);

/** Reads an event that adds text without escapes. @returns undefined for any other event: it has to be parsed */
export function readTextChunk(data: string): ChatChunk | undefined {
  const found = spelling.exec(data);
  if (!found) return undefined;
  const [, member, text = "", prompt, completion] = found;
  const delta = member === "content" ? { content: text } : { reasoning: text };
  return { choices: [{ delta }], ...countersOf(prompt, completion) };
}

/** Events that follow each other, and the chunk that adds as much as all of them. */
export interface TextRun {
  readonly events: number;
  readonly chunk: ChatChunk;
}

/** Reads events that add text without escapes to the content, all with counters or all without. @returns undefined where there is none */
export function readTextRun(events: readonly string[], from: number): TextRun | undefined {
  let at = from;
  let last: RegExpExecArray | undefined;
  let text = "";
  for (; at < events.length; at += 1) {
    const found = spelling.exec(events[at] ?? "");
    // An event without text stands for no token.
    if (!found || found[1] !== "content" || found[2] === "") break;
    if (last && (found[3] === undefined) !== (last[3] === undefined)) break;
    last = found;
    text += found[2] ?? "";
  }
  if (!last) return undefined;
  return { events: at - from, chunk: { choices: [{ delta: { content: text } }], ...countersOf(last[3], last[4]) } };
}
