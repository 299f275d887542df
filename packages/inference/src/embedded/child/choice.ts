import { AnswerParser } from "../../answer/answer-parser.ts";
import type { AnswerDelta, FinalOutput, ParserOutput } from "../../answer/answer-parser.ts";
import type { ChoiceDelta, Finish } from "../../answer/combine-choices.ts";
import { planAnswer } from "../../answer/plan-answer.ts";
import { toOutputToken } from "../../answer/sampled-token.ts";
import type { SampledToken } from "../../answer/sampled-token.ts";
import type { Generation } from "../../engine.ts";
import type { Prompt } from "../../prompt/render-prompt.ts";
import { specialToken } from "../../prompt/special-tokens.ts";
import type { LoadedModel } from "./load-model.ts";
import { ChoiceSampler } from "./sampler.ts";
import { lastSlice, sliceTokens } from "./slices.ts";
import type { Slot, SlotUser } from "./slot.ts";

export interface ChoiceJob {
  readonly request: Generation;
  readonly prompt: Prompt;
  /** The seed of this choice, 32 bits. */
  readonly seed: number;
  readonly user: SlotUser;
}

/** Generates one choice in a slot. When the signal aborts, it ends early and without a finish. */
export class Choice {
  readonly #job: ChoiceJob;
  readonly #model: LoadedModel;
  readonly #slot: Slot;
  readonly #parser: AnswerParser;
  readonly #sampler: ChoiceSampler;
  readonly #contentGrammar: unknown;
  readonly #banned = new Map<string, readonly number[]>();
  #toolGrammar: unknown;
  /** Tokens of the prompt or the answer that still have to be decoded. */
  #pending: number[] = [];
  #isPromptRead = false;
  #cached = 0;
  #written = 0;
  #reasoned = 0;

  constructor(job: ChoiceJob, model: LoadedModel, slot: Slot) {
    const { request, prompt } = job;
    this.#job = job;
    this.#model = model;
    this.#slot = slot;
    const plan = planAnswer(request, model.capabilities);
    this.#parser = new AnswerParser(plan, prompt.opensInReasoning);
    this.#sampler = new ChoiceSampler({
      sampling: request.sampling,
      seed: job.seed,
      prompt: prompt.tokens,
      vocabularySize: model.vocabulary.size,
      processors: model.startProcessors({
        promptTokens: prompt.tokens.length,
        isReasoning: plan.isReasoning || prompt.opensInReasoning,
      }),
    });
    this.#contentGrammar = model.startGrammar(request.grammars.contentGrammar);
  }

  async *run(signal: AbortSignal): AsyncGenerator<readonly ChoiceDelta[]> {
    this.#cached = await this.#slot.begin(this.#job.user, signal);
    await this.#prefill(signal);
    let output = this.#parser.open();
    while (!signal.aborted) {
      const isTruncated = this.#force(output);
      const deltas = output.deltas.map((delta) => this.#count(delta));
      if (output.finish !== undefined) return yield [...deltas, this.#count({ kind: "finish", reason: output.finish })];
      if (isTruncated) return yield [...deltas, ...this.#close(this.#parser.truncate())];
      if (deltas.length > 0) yield deltas;
      const sampled = await this.#sample();
      if (sampled === undefined) return;
      output = this.#parse(sampled);
    }
  }

  /**
   * Decodes the part of the prompt that is not cached, except its last slice. The last slice is decoded when the first token
   * is sampled.
   */
  async #prefill(signal: AbortSignal): Promise<void> {
    const { tokens } = this.#job.prompt;
    const last = lastSlice(tokens);
    for (let start = this.#cached; start < last && !signal.aborted; start += sliceTokens) {
      await this.#slot.decode(tokens.slice(start, start + sliceTokens));
    }
    this.#pending = tokens.slice(last);
  }

  /** Appends the tokens that the parser demands. Returns true when the token limit is reached. */
  #force(output: ParserOutput): boolean {
    const tokens = (output.force ?? []).flatMap((text) => this.#model.encodeStructure(text));
    const left = this.#job.request.maxTokens - this.#written;
    for (const token of tokens.slice(0, left)) this.#accept(token);
    return this.#written >= this.#job.request.maxTokens;
  }

  #accept(token: number): void {
    this.#sampler.accept(token);
    this.#pending.push(token);
    this.#countToken();
  }

  #countToken(): void {
    this.#written += 1;
    if (this.#parser.mode === "reasoning") this.#reasoned += 1;
  }

  async #sample(): Promise<SampledToken | undefined> {
    const pending = this.#pending;
    this.#pending = [];
    const kind = this.#isPromptRead ? "answer" : "prompt";
    this.#isPromptRead = true;
    const { vocabulary } = this.#model;
    const banned = this.#bannedIds();
    const count = this.#parser.mode === "content" ? this.#job.request.topLogprobs : undefined;
    const alternatives = count === undefined ? undefined : { count, banned };
    const grammar = this.#grammar();
    return this.#slot.next(kind, pending, async (sample) => {
      // The grammar of the content does not include calls, so the first sampling, which shows if the model wants to call, is
      // without it.
      const canCallInstead =
        grammar !== undefined && this.#parser.allowedSpecialTokens.includes(specialToken.callStart);
      if (canCallInstead) {
        const free = await sample(this.#sampler.config(banned, undefined), undefined);
        if (free.id === vocabulary.specialTokenId(specialToken.callStart)) return free;
      }
      const sampled = await sample(this.#sampler.config(banned, grammar), alternatives);
      // Where no token is possible, llama.cpp takes any. No grammar allows a token that begins with a zero byte.
      const isImpossible = banned.includes(sampled.id) || (grammar && vocabulary.bytesOf(sampled.id)[0] === 0);
      if (isImpossible) throw new Error("there is no token that the answer may continue with");
      return sampled;
    });
  }

  /**
   * Returns the special tokens that must not come next. The lists are cached: there are few different ones, and each may have
   * hundreds of ids.
   */
  #bannedIds(): readonly number[] {
    const { allowedSpecialTokens, canEnd } = this.#parser;
    const key = [canEnd, ...allowedSpecialTokens].join(" ");
    const known = this.#banned.get(key);
    if (known) return known;
    const { vocabulary } = this.#model;
    const allowed = new Set(allowedSpecialTokens.map((spelling) => vocabulary.specialTokenId(spelling)));
    const banned = vocabulary.specialTokenIds.filter(
      (id) => !allowed.has(id) && !(canEnd && this.#model.isEndOfTurn(id)),
    );
    this.#banned.set(key, banned);
    return banned;
  }

  /** Restarts the grammar for every tool call. */
  #grammar(): unknown {
    const { toolGrammar } = this.#job.request.grammars;
    if (this.#parser.mode === "tool") return (this.#toolGrammar ??= this.#model.startGrammar(toolGrammar));
    this.#toolGrammar = undefined;
    return this.#parser.mode === "content" ? this.#contentGrammar : undefined;
  }

  #parse(sampled: SampledToken): ParserOutput {
    if (this.#model.isEndOfTurn(sampled.id)) {
      this.#countToken();
      return this.#parser.end();
    }
    this.#accept(sampled.id);
    return this.#parser.push(toOutputToken(this.#model.describe, sampled, this.#job.request.topLogprobs));
  }

  #close({ deltas, finish }: FinalOutput): ChoiceDelta[] {
    return [...deltas, { kind: "finish" as const, reason: finish }].map((delta) => this.#count(delta));
  }

  #count(delta: AnswerDelta | Finish): ChoiceDelta {
    const counted = {
      promptTokens: this.#job.prompt.tokens.length,
      cachedTokens: this.#cached,
      completionTokens: this.#written,
      reasoningTokens: this.#reasoned,
    };
    return { delta, counted };
  }
}
