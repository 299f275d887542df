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
