import { randomBytes } from "node:crypto";
import type { Engine, EngineUsage } from "../engine.ts";
import { probeRequest } from "../probe.ts";
import type { ConstrainedRequest } from "../probe.ts";
import { grownBy, readCounts } from "./engine-counts.ts";

/** An answer to one prompt of the examination. */
export interface Answered {
  readonly usage: EngineUsage;
  /** The number of prompt tokens as Parley counts them. */
  readonly promptTokens: number;
  readonly text: string;
  readonly tookMs: number;
}

type Messages = ConstrainedRequest["messages"];
type Changes = Partial<Omit<ConstrainedRequest, "messages" | "origin">>;

const sentence = "The next block holds the price of gas. ";
const maxRepeats = 60;

/** Sends prompts that nobody has sent before, all of one key, and adds up what their answers count. */
export class FrontPrompts {
  /** The sums of all complete answers. */
  readonly counted = { promptTokens: 0, cachedTokens: 0 };
  readonly #engine: Engine;
  readonly #patienceMs: number;
  readonly #engines: readonly string[];
  readonly #run = randomBytes(12).toString("hex");

  /**
   * @param patienceMs the time for one request
   * @param engines the base URLs of the engines whose counters tell the cached tokens; empty: the answers tell them
   */
  constructor(engine: Engine, patienceMs: number, engines: readonly string[]) {
    this.#engine = engine;
    this.#patienceMs = patienceMs;
    this.#engines = engines;
  }

  /**
   * Returns a message of at most 600 tokens, or of a third of the context. Those with different names begin differently.
   * @param share the share of that length, from 0 to 1
   */
  textOf(name: string, share = 1): string {
    const repeats = Math.min(maxRepeats, Math.floor((this.#engine.metadata?.contextLength ?? 512) / 32));
    return `${this.#run} ${name} ${sentence.repeat(Math.round(share * repeats))}`;
  }

  /** Returns the number of tokens of a prompt, without sending it. */
  async count(content: string): Promise<number> {
    const request = this.#request("", [{ role: "user", content }], {});
    return (await this.#engine.prepare(request, AbortSignal.timeout(this.#patienceMs))).tokens;
  }

  /**
   * Sends a prompt and reads the whole answer.
   * @throws {EngineError}
   */
  async ask(session: string, said: string | Messages, changes: Changes = {}): Promise<Answered> {
    const before = await readCounts(this.#engines);
    const begunMs = performance.now();
    const answered = await this.#read(session, said, changes, AbortSignal.timeout(this.#patienceMs));
    const tookMs = performance.now() - begunMs;
    const usage =
      before.length === 0
        ? answered.usage
        : { ...answered.usage, cachedTokens: grownBy("cachedTokens", before, await readCounts(this.#engines)) };
    this.counted.promptTokens += usage.promptTokens;
    this.counted.cachedTokens += usage.cachedTokens;
    return { ...answered, usage, tookMs };
  }

  /**
   * Sends a prompt and hangs up when the first token has arrived.
   * @returns the number of tokens that arrived
   * @throws {EngineError}
   */
  async hangUp(session: string, said: string, changes: Changes): Promise<number> {
    const hangUp = new AbortController();
    const signal = AbortSignal.any([hangUp.signal, AbortSignal.timeout(this.#patienceMs)]);
    let arrived = 0;
    const onTokens = ({ completionTokens }: EngineUsage): void => {
      arrived = completionTokens;
      if (completionTokens > 0) hangUp.abort();
    };
    try {
      await this.#read(session, said, changes, signal, onTokens);
    } catch (error) {
      if (!hangUp.signal.aborted) throw error;
    }
    return arrived;
  }

  async #read(
    session: string,
    said: string | Messages,
    changes: Changes,
    signal: AbortSignal,
    onUsage: (usage: EngineUsage) => void = () => undefined,
  ): Promise<Omit<Answered, "tookMs">> {
    const messages: Messages = typeof said === "string" ? [{ role: "user", content: said }] : said;
    const request = this.#request(session, messages, changes);
    const prepared = await this.#engine.prepare(request, signal);
    let usage: EngineUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
    let text = "";
    for await (const events of prepared.stream(request)) {
      for (const event of events) {
        if (event.kind === "text") text += event.text;
        if (event.kind === "usage") onUsage((usage = event.usage));
      }
    }
    return { usage, promptTokens: prepared.tokens, text };
  }

  #request(session: string, messages: Messages, changes: Changes): ConstrainedRequest {
    const origin = { key: `doctor-${this.#run}`, cacheKey: session };
    return { ...probeRequest, messages, origin, ...changes };
  }
}
