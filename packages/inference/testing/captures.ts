import { readFileSync } from "node:fs";
import { EventReader } from "../src/wire/event-reader.ts";

/** What a real vLLM once sent: status and body, as `captures/` holds them. */
export interface Capture {
  readonly status: number;
  readonly body: string;
}

/** @param set of routes that are asked by token ids, or of the chat route */
export function readCapture(name: string, set: "vllm-0.32.0" | "vllm-0.32.0-chat" = "vllm-0.32.0"): Capture {
  const text = readFileSync(new URL(`./captures/${set}/${name}.txt`, import.meta.url), "utf8");
  const [head = "", body = ""] = (text.split("### response head\n")[1] ?? "").split(/^### response body.*\n/m);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), body };
}

/** The data of the events of a captured stream; the note that some were left out is no event. */
export const eventsOf = (name: string): readonly string[] =>
  new EventReader().push(Buffer.from(`${readCapture(name).body}\n\n`));
