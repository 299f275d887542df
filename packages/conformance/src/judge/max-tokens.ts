import type { Answer } from "../wire/answer.ts";
import { cannot, must } from "./finding.ts";
import { completionOf, finishOf, listAt, sentBody, tokensOf } from "./read.ts";

/** Demands that every choice stopped at the maximum number of tokens. */
export function mustStopAtMaxTokens(answer: Answer): string {
  completionOf(answer);
  const { max_completion_tokens: newer, max_tokens: older, n } = sentBody(answer);
  const maxTokens = Number(newer ?? older) * Number(n ?? 1);
  const count = tokensOf(answer, "completion_tokens");
  must(count <= maxTokens, answer, `at most ${maxTokens} tokens`, `${count} tokens`);
  if (listAt(answer.json, "/choices").some((_, index) => finishOf(answer, index) !== "length"))
    cannot(`the model ended by itself after ${count} tokens, so that the limit of ${maxTokens} had no effect`);
  must(count === maxTokens, answer, `${maxTokens} tokens, since it finished with 'length'`, `${count} tokens`);
  return `stopped at ${count} tokens`;
}
