import type { EngineUsage } from "@parley/inference";
import type { ChunkHead } from "./head.ts";
import type { AnswerBatch } from "./relay-answer.ts";
import type { Usage } from "./usage.ts";

export interface ChunkTextOptions {
  readonly head: ChunkHead;
  /** Whether a last chunk carries the usage, and every other one `usage: null`. */
  readonly includesUsage: boolean;
  readonly toUsage: (usage: EngineUsage) => Usage;
}

/** Writes an answer as server-sent events. What every chunk repeats is serialised once. */
export class ChunkText {
  readonly #options: ChunkTextOptions;
  /** Up to the list of choices. */
  readonly #start: string;
  readonly #end: string;

  constructor(options: ChunkTextOptions) {
    const { id, created, model, system_fingerprint } = options.head;
    const head = JSON.stringify({ id, object: "chat.completion.chunk", created, model, system_fingerprint });
    this.#options = options;
    // Joined, it is one string. Added up, its parts would be put together anew for each event.
    this.#start = ["data: ", head.slice(0, -1), ',"choices":['].join("");
    this.#end = `]${options.includesUsage ? ',"usage":null' : ""}}\n\n`;
  }

  of({ choices, usage }: AnswerBatch): string {
    let text = "";
    for (const choice of choices) text += this.#start + JSON.stringify(choice) + this.#end;
    if (!usage || !this.#options.includesUsage) return text;
    return `${text}${this.#start}],"usage":${JSON.stringify(this.#options.toUsage(usage))}}\n\n`;
  }
}
