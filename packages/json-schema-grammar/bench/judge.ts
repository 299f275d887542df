import { openGrammarMatcher } from "../testing/index.ts";
import { judgeCase } from "./judge-case.ts";
import type { Judgement } from "./judge-case.ts";
import { readCase } from "./read-case.ts";

// A separate process judges the schemas, so a schema that crashes or hangs llama.cpp costs only its own verdict.

const matcherOf = await openGrammarMatcher();
process.on("message", (path: string) => process.send?.(judge(path)));
process.on("disconnect", () => process.exit());
process.on("SIGINT", () => undefined); // The parent ends this process after it has written the results.
process.send?.("ready");

function judge(path: string): Judgement {
  const one = readCase(path);
  try {
    return judgeCase(one, matcherOf);
  } catch (error) {
    return { id: one.id, dataSet: one.dataSet, verdict: "died", reason: String(error) };
  }
}
