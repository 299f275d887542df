import { readFileSync } from "node:fs";
import { EventReader } from "../src/wire/event-reader.ts";

/** An answer of a real vLLM, recorded in `captures/`: status and body. */
export interface Capture {
  readonly status: number;
  readonly body: string;
}

/** @param set the captures of completions (token ids), or those of the chat route */
export function readCapture(name: string, set: "vllm-0.32.0" | "vllm-0.32.0-chat" = "vllm-0.32.0"): Capture {
  const text = readFileSync(new URL(`./captures/${set}/${name}.txt`, import.meta.url), "utf8");
  const [head = "", body = ""] = (text.split("### response head\n")[1] ?? "").split(/^### response body.*\n/m);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), body };
}

/** Returns the data of the events of a captured stream. The note about omitted events is not an event. */
export const eventsOf = (name: string): readonly string[] =>
  new EventReader().push(Buffer.from(`${readCapture(name).body}\n\n`));
