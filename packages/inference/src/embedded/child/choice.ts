import type { EngineRequest, EngineUsage, FinishReason, OutputToken } from "../../engine.ts";
import { specialToken } from "../../prompt/special-tokens.ts";
import { AnswerParser } from "../../answer/answer-parser.ts";
import type { FinalOutput, ParserOutput, AnswerDelta } from "../../answer/answer-parser.ts";
import { planAnswer } from "../../answer/plan-answer.ts";
import type { LoadedModel } from "./load-model.ts";
import type { Prompt } from "../../prompt/render-prompt.ts";
import { ChoiceSampler } from "./sampler.ts";
import type { Chosen, Slot } from "./slot.ts";

/** What one choice says as it goes; the counters are its own. */
export type ChoiceDelta = (
  | AnswerDelta
  | { readonly kind: "role" }
  | { readonly kind: "finish"; readonly reason: FinishReason }
) & {
  readonly counted: Pick<EngineUsage, "completion_tokens" | "reasoning_tokens">;
};

export interface ChoiceJob {
  readonly request: EngineRequest;
  readonly prompt: Prompt;
  /** 32 bits, this choice's own. */
  readonly seed: number;
  readonly contentGrammar: string | undefined;
  readonly toolGrammar: string | undefined;
}

/** A prompt is decoded in pieces of this many tokens, so that a hang-up is noticed in between. */
const prefillStep = 128;

/** Generates one choice in a slot. Ends early, without a finish, when the signal aborts. */
export class Choice {
  readonly #job: ChoiceJob;
  readonly #model: LoadedModel;
  readonly #slot: Slot;
  readonly #answer: AnswerParser;
  readonly #sampler: ChoiceSampler;
  readonly #contentGrammar: unknown;
  readonly #banned = new Map<string, readonly number[]>();
  #toolGrammar: unknown;
  #pending: number[] = [];
  #written = 0;
  #reasoned = 0;
  #hasSpoken = false;

  constructor(job: ChoiceJob, model: LoadedModel, slot: Slot) {
    const { request, prompt } = job;
    this.#job = job;
    this.#model = model;
    this.#slot = slot;
    slot.begin(request.seed !== undefined);
    this.#answer = new AnswerParser(planAnswer(request, model.capabilities), prompt.opensInReasoning);
    this.#sampler = new ChoiceSampler(request.sampling, job.seed, prompt.tokens, model.vocabulary.size);
    this.#contentGrammar = model.startGrammar(job.contentGrammar);
  }

  async *run(signal: AbortSignal): AsyncGenerator<ChoiceDelta> {
    await this.#prefill(signal);
    let output = this.#answer.open();
    while (!signal.aborted) {
      const isCut = this.#force(output);
      for (const delta of output.deltas) yield* this.#say(delta);
      if (output.finish !== undefined) return yield* this.#say({ kind: "finish", reason: output.finish });
      if (isCut) return yield* this.#close(this.#answer.cut());
      output = this.#read(await this.#choose());
    }
  }

  /** All but the last tokens of the prompt; what remains is decoded together with the first choice of a token. */
  async #prefill(signal: AbortSignal): Promise<void> {
    const { tokens } = this.#job.prompt;
    const last = Math.max(0, Math.ceil(tokens.length / prefillStep) - 1) * prefillStep;
    for (let start = 0; start < last && !signal.aborted; start += prefillStep) {
      await this.#slot.decode(tokens.slice(start, start + prefillStep));
    }
    this.#pending = tokens.slice(last);
  }

  /** Appends what the output demands; true when the cap left no room for all of it. */
  #force(output: ParserOutput): boolean {
    const tokens = (output.force ?? []).flatMap((text) => this.#model.encodeForm(text));
    const room = this.#job.request.max_tokens - this.#written;
    for (const token of tokens.slice(0, room)) this.#accept(token);
    return this.#written >= this.#job.request.max_tokens;
  }

  #accept(token: number): void {
    this.#sampler.accept(token);
    this.#pending.push(token);
    this.#count();
  }

  #count(): void {
    this.#written += 1;
    if (this.#answer.mode === "reasoning") this.#reasoned += 1;
  }

  async #choose(): Promise<Chosen> {
    const pending = this.#pending;
    this.#pending = [];
    const { vocabulary } = this.#model;
    const banned = this.#bannedIds();
    const count = this.#answer.mode === "content" ? this.#job.request.top_logprobs : undefined;
    const alternatives = count === undefined ? undefined : { count, banned };
    const grammar = this.#grammar();
    return this.#slot.next(pending, async (sample) => {
      const isOpenToCalls = grammar !== undefined && this.#answer.allowedSpecialTokens.includes(specialToken.callStart);
      if (isOpenToCalls) {
        const free = await sample(this.#sampler.config(banned, undefined), undefined);
        if (free.token === vocabulary.specialTokenId(specialToken.callStart)) return free;
      }
      return sample(this.#sampler.config(banned, grammar), alternatives);
    });
  }

  /** The special tokens that must not come next. There are few different lists, and a vocabulary may have many hundred special tokens. */
  #bannedIds(): readonly number[] {
    const { allowedSpecialTokens, canEnd } = this.#answer;
    const key = [canEnd, ...allowedSpecialTokens].join(" ");
    const known = this.#banned.get(key);
    if (known) return known;
    const { specialTokens, specialTokenId } = this.#model.vocabulary;
    const others = specialTokens
      .filter((spelling) => !allowedSpecialTokens.includes(spelling))
      .flatMap((one) => specialTokenId(one) ?? []);
    const banned = others.filter((id) => !(canEnd && this.#model.isEndOfTurn(id)));
    this.#banned.set(key, banned);
    return banned;
  }

  /** Every tool call starts its grammar anew. */
  #grammar(): unknown {
    if (this.#answer.mode === "tool") return (this.#toolGrammar ??= this.#model.startGrammar(this.#job.toolGrammar));
    this.#toolGrammar = undefined;
    return this.#answer.mode === "content" ? this.#contentGrammar : undefined;
  }

  #read(chosen: Chosen): ParserOutput {
    const { token } = chosen;
    if (this.#model.isEndOfTurn(token)) {
      this.#count();
      return this.#answer.end();
    }
    this.#accept(token);
    return this.#answer.push(this.#pieceOf(chosen));
  }

  #pieceOf({ token, logprobs }: Chosen): OutputToken {
    const piece = this.#model.describe(token);
    if (logprobs === undefined) return piece;
    const top = logprobs.top.map(([id, logprob]) => ({ ...this.#model.describe(id), logprob }));
    return {
      ...piece,
      logprob: logprobs.chosen,
      top: top.map(({ token: text, bytes, logprob }) => ({ token: text, bytes, logprob })),
    };
  }

  *#close({ deltas, finish }: FinalOutput): Generator<ChoiceDelta> {
    for (const delta of deltas) yield* this.#say(delta);
    yield* this.#say({ kind: "finish", reason: finish });
  }

  /** The role comes with the first thing said, so that whoever sees it knows that the model really works. */
  *#say(delta: AnswerDelta | { readonly kind: "finish"; readonly reason: FinishReason }): Generator<ChoiceDelta> {
    const counted = { completion_tokens: this.#written, reasoning_tokens: this.#reasoned };
    if (!this.#hasSpoken) yield { kind: "role", counted };
    this.#hasSpoken = true;
    yield { ...delta, counted };
  }
}
