import type { EngineUsage } from "@parley/inference";
import type { ChunkHead } from "./head.ts";
import type { AnswerBatch } from "./relay-answer.ts";
import type { Usage } from "./usage.ts";

export interface ChunkTextOptions {
  readonly head: ChunkHead;
  /** True: the last chunk has the usage, and all others have `usage: null`. */
  readonly includesUsage: boolean;
  readonly toUsage: (usage: EngineUsage) => Usage;
}

/** Serializes the chunks of an answer as server-sent events. The members that all chunks repeat are serialized once. */
export class ChunkText {
  readonly #options: ChunkTextOptions;
  /** The text of an event up to its first choice. */
  readonly #start: string;
  readonly #end: string;

  constructor(options: ChunkTextOptions) {
    const { id, created, model, system_fingerprint } = options.head;
    const head = JSON.stringify({ id, object: "chat.completion.chunk", created, model, system_fingerprint });
    this.#options = options;
    // `join` makes one flat string. With `+`, V8 would have to copy the parts together for each event.
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
