import { GrammarWalk, acceptsInSomeOrder, readGbnf } from "../testing/index.ts";
import type { Accepts } from "../testing/index.ts";
import { parseTree } from "jsonc-parser";
import type { Case, Instance } from "./read-case.ts";
import { compileSchema } from "../src/index.ts";

/**
 * `pass`: the schema compiles, and its grammar accepts every valid instance and rejects every invalid one. `other order`: the
 * same, but a valid instance must have its members in another order. `died`: an exception was thrown, or the process ended.
 * `late`: it took longer than the limit.
 */
export const verdicts = [
  "pass",
  "refused",
  "other order",
  "valid rejected",
  "invalid accepted",
  "died",
  "late",
] as const;
export type Verdict = (typeof verdicts)[number];

export interface Judgement {
  readonly id: string;
  readonly dataSet: string;
  readonly verdict: Verdict;
  /** The keyword at fault, if the schema was refused. */
  readonly keyword?: string | null;
  readonly path?: string;
  /** The reason of the refusal, or the last output of the process. */
  readonly reason?: string;
  readonly compileMs?: number;
  readonly grammarCharacters?: number;
  readonly matchMs?: number;
  /** Indexes of the instances with a wrong verdict. */
  readonly wrong?: readonly number[];
}

export type Matcher = (grammar: string) => Accepts;

/** Compiles the schema as a request would, and tries the grammar on every instance. */
export function judgeCase({ id, dataSet, schema, instances }: Case, matcherOf: Matcher): Judgement {
  const before = process.cpuUsage();
  const compiled = compileSchema(schema);
  const compileMs = cpuMs(before);
  if ("fault" in compiled) return { id, dataSet, verdict: "refused", ...compiled.fault, compileMs };
  const { grammar } = compiled;
  const compiledAt = process.cpuUsage();
  const accepts = matcherOf(grammar);
  const wrong = instances.flatMap(({ text, isValid }, index) => (accepts(text) === isValid ? [] : [index]));
  const matchMs = cpuMs(compiledAt);
  const verdict = verdictOf(
    grammar,
    wrong.flatMap((index) => instances[index] ?? []),
  );
  return { id, dataSet, verdict, compileMs, grammarCharacters: grammar.length, matchMs, wrong };
}

function verdictOf(grammar: string, wrong: readonly Instance[]): Verdict {
  if (wrong.length === 0) return "pass";
  if (wrong.some(({ isValid }) => !isValid)) return "invalid accepted";
  const walk = new GrammarWalk(readGbnf(grammar));
  const canBeReordered = wrong.every(({ text }) => {
    const node = parseTree(text);
    return node && acceptsInSomeOrder(walk, node, text);
  });
  return canBeReordered ? "other order" : "valid rejected";
}

/** Returns CPU time, because other processes make wall time longer. */
function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}
