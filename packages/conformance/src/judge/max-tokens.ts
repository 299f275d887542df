import type { Answer } from "../wire/answer.ts";
import { cannot, must } from "./finding.ts";
import { completionOf, finishOf, listAt, sentBody, tokensOf } from "./read.ts";

/** That every choice was cut at the cap. */
export function mustKeepCap(answer: Answer): string {
  completionOf(answer);
  const { max_completion_tokens: newer, max_tokens: older, n } = sentBody(answer);
  const cap = Number(newer ?? older) * Number(n ?? 1);
  const count = tokensOf(answer, "completion_tokens");
  must(count <= cap, answer, `at most ${cap} tokens`, `${count}`);
  if (listAt(answer.json, "/choices").some((_, index) => finishOf(answer, index) !== "length"))
    cannot(`the model ended by itself after ${count} tokens, so the cap of ${cap} decided nothing`);
  must(count === cap, answer, `${cap} tokens, since it finished with length`, `${count}`);
  return `cut at ${count} tokens`;
}
