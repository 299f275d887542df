import type { Vocabulary } from "../../prompt/vocabulary.ts";
import { specialToken } from "../../prompt/special-tokens.ts";
import { describeWith } from "../../prompt/vocabulary.ts";
import { LengthPenalty } from "./length-penalty.ts";
import type { LengthRules } from "./length-penalty.ts";
import { LoopPenalty } from "./loop-penalty.ts";
import type { DrySampling } from "./loop-penalty.ts";

/** Changes the likelihood of tokens, depending on the text that a choice has written so far. */
export interface LogitsProcessor {
  accept(token: number): void;
  /**
   * @param isConstrained true where a grammar limits the next token
   * @returns pairs of a token id and the bias added to its logit
   */
  biases(isConstrained: boolean): ReadonlyMap<number, number>;
  /**
   * @param isConstrained true where a grammar limits the next token
   * @returns the token that is certain to be next, whatever the logits, the penalties and the caller's bias are
   */
  certainToken?(isConstrained: boolean): number | undefined;
}

/** A fixed sentence that replaces the answer to a prompt that is too long for the model to answer sensibly. */
interface LongPromptRules {
  /** Prompts of up to this many tokens are answered as usual. */
  readonly maxPromptTokens: number;
  /** The whole answer to a longer prompt; `{tokens}` stands for the number of its tokens. */
  readonly notice: string;
}

/** Sampling settings of a model that no request can change. A model without them is sampled exactly as the request says. */
export interface ProcessorSettings {
  readonly dry?: DrySampling;
  readonly length?: LengthRules;
  readonly longPrompt?: LongPromptRules;
}

/** The parts of a choice that decide which processors it gets. */
export interface ProcessedChoice {
  readonly promptTokens: number;
  /** The answer begins inside a reasoning section. */
  readonly isReasoning: boolean;
}

/** The parts of a model that its processors are made of. */
export interface ProcessedModel {
  readonly vocabulary: Vocabulary;
  readonly isEndOfTurn: (token: number) => boolean;
  /** Encodes a text without special tokens. */
  readonly encode: (text: string) => readonly number[];
}

/** Reads the vocabulary once. @returns a function that makes the processors of a new choice */
export function processorsOf(
  { dry, length, longPrompt }: ProcessorSettings,
  { vocabulary, isEndOfTurn, encode }: ProcessedModel,
): (choice: ProcessedChoice) => readonly LogitsProcessor[] {
  const describe = describeWith(vocabulary);
  const idsOf = (isWanted: (token: number) => boolean): readonly number[] =>
    Array.from({ length: vocabulary.size }, (_, token) => token).filter(isWanted);
  const spelled = (spelling: RegExp): readonly number[] => idsOf((token) => spelling.test(describe(token).token));
  const digits = new Set(dry ? spelled(/^\d$/) : []);
  const ends = length
    ? { ofAnswer: idsOf(isEndOfTurn), quotes: spelled(/^"[}\]]*$/), brackets: spelled(/^[}\]]+$/) }
    : undefined;
  const noticeFor = ({ promptTokens, isReasoning }: ProcessedChoice): LogitsProcessor[] => {
    if (!longPrompt || promptTokens <= longPrompt.maxPromptTokens) return [];
    const thinkEnd = isReasoning ? vocabulary.specialTokenId(specialToken.thinkEnd) : undefined;
    const said = encode(longPrompt.notice.replaceAll("{tokens}", String(promptTokens)));
    return [
      new LongPromptNotice([
        ...(thinkEnd === undefined ? [] : [thinkEnd, ...encode("\n\n")]),
        ...said,
        ...idsOf(isEndOfTurn).slice(0, 1),
      ]),
    ];
  };
  return (choice) => [
    ...(dry ? [new LoopPenalty(dry, (token) => digits.has(token))] : []),
    ...(length && ends ? [new LengthPenalty(length, ends)] : []),
    ...noticeFor(choice),
  ];
}

/**
 * Makes the tokens of a notice certain, one after the other. It does nothing under a grammar, because the caller was promised
 * that form.
 */
export class LongPromptNotice implements LogitsProcessor {
  readonly #tokens: readonly number[];
  #written = 0;

  /** @param tokens the notice, with the token that ends the turn */
  constructor(tokens: readonly number[]) {
    this.#tokens = tokens;
  }

  /** Ignores tokens that the form of the answer demands before the notice. */
  accept(token: number): void {
    if (token === this.#tokens[this.#written]) this.#written += 1;
  }

  biases(): ReadonlyMap<number, number> {
    return new Map();
  }

  certainToken(isConstrained: boolean): number | undefined {
    return isConstrained ? undefined : this.#tokens[this.#written];
  }
}
