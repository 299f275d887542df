import type { Vocabulary } from "../../prompt/vocabulary.ts";
import { describeWith } from "../../prompt/vocabulary.ts";
import { LengthPenalty } from "./length-penalty.ts";
import type { LengthRules } from "./length-penalty.ts";
import { LoopPenalty } from "./loop-penalty.ts";
import type { DrySampling } from "./loop-penalty.ts";

/** Makes tokens more or less likely, depending on what a choice has written so far. */
export interface LogitsProcessor {
  accept(token: number): void;
  /** @param isConstrained whether a grammar limits the next token @returns what is added to the logit of each token */
  biases(isConstrained: boolean): ReadonlyMap<number, number>;
}

/** Sampling settings of a model that no request can change. A model without them is sampled exactly as the request says. */
export interface ProcessorSettings {
  readonly dry?: DrySampling;
  readonly length?: LengthRules;
}

/** Reads the vocabulary once. @returns a function that makes the processors of a new choice */
export function processorsOf(
  { dry, length }: ProcessorSettings,
  vocabulary: Vocabulary,
  isEndOfTurn: (token: number) => boolean,
): () => readonly LogitsProcessor[] {
  const describe = describeWith(vocabulary);
  const idsOf = (isWanted: (token: number) => boolean): readonly number[] =>
    Array.from({ length: vocabulary.size }, (_, token) => token).filter(isWanted);
  const spelled = (spelling: RegExp): readonly number[] => idsOf((token) => spelling.test(describe(token).token));
  const digits = new Set(dry ? spelled(/^\d$/) : []);
  const ends = length
    ? { ofAnswer: idsOf(isEndOfTurn), quotes: spelled(/^"[}\]]*$/), brackets: spelled(/^[}\]]+$/) }
    : undefined;
  return () => [
    ...(dry ? [new LoopPenalty(dry, (token) => digits.has(token))] : []),
    ...(length && ends ? [new LengthPenalty(length, ends)] : []),
  ];
}
