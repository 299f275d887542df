import { openGrammarMatcher } from "@parley/inference/testing/grammars";
import { judgeCase } from "./judge-case.ts";
import type { Judgement } from "./judge-case.ts";
import { readCase } from "./read-case.ts";

// A process of its own judges the schemas: one that llama.cpp breaks on, or never ends with, costs that schema alone.

const matcherOf = await openGrammarMatcher();
process.on("message", (path: string) => process.send?.(judge(path)));
process.on("disconnect", () => process.exit());
process.on("SIGINT", () => undefined); // The parent ends us when it has written down what is done.
process.send?.("ready");

function judge(path: string): Judgement {
  const one = readCase(path);
  try {
    return judgeCase(one, matcherOf);
  } catch (error) {
    return { id: one.id, dataSet: one.dataSet, verdict: "died", reason: String(error) };
  }
}
