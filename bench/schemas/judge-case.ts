import { RequestSchemas, compileGrammars } from "@parley/inference";
import type { Accepts } from "@parley/inference/testing/grammars";
import type { Case } from "./read-case.ts";

/**
 * `pass`: compiles, accepts every valid instance and rejects every invalid one. `died`: the process that judged it ended,
 * `late`: it took longer than it may.
 */
export const verdicts = ["pass", "refused", "valid rejected", "invalid accepted", "died", "late"] as const;
export type Verdict = (typeof verdicts)[number];

export interface Judgement {
  readonly id: string;
  readonly dataSet: string;
  readonly verdict: Verdict;
  /** Of a refusal. */
  readonly keyword?: string | null;
  readonly path?: string;
  /** Why it is refused, or what the process said last. */
  readonly reason?: string;
  readonly compileMs?: number;
  readonly grammarCharacters?: number;
  readonly matchMs?: number;
  /** The numbers of the instances with the wrong verdict, from 0. */
  readonly wrong?: readonly number[];
}

export type Matcher = (grammar: string) => Accepts;

/** Compiles the schema as a request would, and tries the grammar on every instance. */
export function judgeCase({ id, dataSet, schema, instances }: Case, matcherOf: Matcher): Judgement {
  const schemas = new RequestSchemas();
  const startedMs = performance.now();
  const compiled = schemas.answer(schema);
  const compileMs = round(performance.now() - startedMs);
  if ("fault" in compiled) return { id, dataSet, verdict: "refused", ...compiled.fault, compileMs };
  const format = { type: "json_schema", schema } as const;
  const grammar = compileGrammars({ format, tools: [], tool_choice: "none" }, schemas).contentGrammar ?? "";
  const matchedMs = performance.now();
  const accepts = matcherOf(grammar);
  const wrong = instances.flatMap(({ text, isValid }, index) => (accepts(text) === isValid ? [] : [index]));
  const verdict: Verdict = wrong.some((index) => instances[index]?.isValid === false)
    ? "invalid accepted"
    : wrong.length > 0
      ? "valid rejected"
      : "pass";
  const matchMs = round(performance.now() - matchedMs);
  return { id, dataSet, verdict, compileMs, grammarCharacters: grammar.length, matchMs, wrong };
}

const round = (ms: number): number => Math.round(ms * 1000) / 1000;
