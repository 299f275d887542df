import { checkOf } from "../../judge/check.ts";
import type { TestGroup, Check } from "../../judge/check.ts";
import { cannot, must, show, showHeader } from "../../judge/finding.ts";
import { valueAt, chunksOf, completionOf, contentOf, isCompletion, mustRefuse, textAt } from "../../judge/read.ts";
import { modelId } from "../../requests/listed-model.ts";
import { markers, steps } from "./requests.ts";
import { recordChecks } from "./usage-records.ts";

const checks: readonly Check[] = [
  checkOf("OPS-01", "Kills the engine and asks at once.", ["the death of an engine"], (context) => {
    const [, ...after] = context.answers("the death of an engine");
    const refused = after.find((answer) => !isCompletion(answer));
    if (!refused) cannot("the engine was back before it could be asked");
    return mustRefuse(refused, { status: 503, code: "service_unavailable" });
  }),
  checkOf(
    "OPS-02",
    "Lets the engine break off before its first event.",
    ["an engine that resets", "an early failure"],
    (context) =>
      ["an engine that resets", "an early failure"]
        .map((step) => mustRefuse(context.answer(step), { status: 502, code: "upstream_error" }))
        .join("; "),
    (context) => {
      const answer = context.answer("an engine that resets");
      must((answer.status ?? 0) >= 500, answer, "a status from 500", answer.summary);
      return `status ${answer.status}`;
    },
  ),
  checkOf("OPS-03", "Lets the engine say nothing until the deadline.", ["an engine that never speaks"], (context) =>
    mustRefuse(context.answer("an engine that never speaks"), { status: 504, code: "timeout" }),
  ),
  checkOf(
    "OPS-04",
    "Streams four answers side by side and compares ids and texts.",
    ["streams side by side"],
    (context) => {
      const answers = context.answers("streams side by side");
      const ids = answers.map((answer) => {
        completionOf(answer);
        return new Set(chunksOf(answer).map((chunk) => textAt(chunk, "/id")));
      });
      for (const [index, answer] of answers.entries()) {
        must(ids[index]?.size === 1, answer, "one id in a stream", `the ids ${show([...(ids[index] ?? [])])}`);
        const foreign = markers.find((marker, other) => other !== index && contentOf(answer).includes(marker));
        must(foreign === undefined, answer, "no text of another stream", `the text ${show(contentOf(answer))}`);
      }
      must(
        new Set(ids.flatMap((one) => [...one])).size === answers.length,
        answers[0],
        "an id for each stream",
        `the ids ${show(ids.map((one) => [...one]))}`,
      );
      return `${answers.length} streams`;
    },
  ),
  checkOf("OPS-05", "Reads the waits of every 503.", ["the death of an engine"], (context) => {
    const found = context.all.filter(({ status }) => status === 503);
    for (const answer of found) {
      must(
        /^[1-9]\d*$/.test(answer.header("retry-after") ?? ""),
        answer,
        "Retry-After",
        showHeader(answer, "retry-after"),
      );
      must(
        /^\d+$/.test(answer.header("retry-after-ms") ?? ""),
        answer,
        "retry-after-ms",
        showHeader(answer, "retry-after-ms"),
      );
    }
    return found.length > 0 ? `${found.length} answers` : cannot("no request was answered with 503");
  }),
  checkOf("OPS-06", "Asks a model whose engine has just died.", ["the death of an engine"], (context) => {
    const [, ...after] = context.answers("the death of an engine");
    for (const answer of after.filter(isCompletion))
      must(
        valueAt(answer.json, "/model") === modelId(context),
        answer,
        `model ${modelId(context)}`,
        `model ${show(valueAt(answer.json, "/model"))}`,
      );
    const refused = after.filter((answer) => answer.status === 503);
    return refused.length > 0
      ? "it was refused rather than replaced"
      : cannot("the engine was back before it could be asked");
  }),
  checkOf(
    "OPS-07",
    "Disconnects from two of three streams, and reads the third to its end.",
    ["a neighbour that disconnects"],
    (context) => {
      const answer = context.answer("a neighbour that disconnects");
      const wanted = "on ".repeat(60);
      must(
        contentOf(answer) === wanted && answer.stream.events.at(-1)?.data === "[DONE]",
        answer,
        "60 words and [DONE]",
        `${contentOf(answer).length / 3} words, ${answer.exchange.end}`,
      );
      return "60 words";
    },
  ),
  checkOf("OPS-08", "Asks once the failures have passed.", ["after a failure"], (context) => {
    for (const step of ["an early failure", "an engine that resets"])
      if (isCompletion(context.answer(step))) cannot("the engine did not fail");
    completionOf(context.answer("after a failure"));
    return "answered";
  }),
];

export const ops: TestGroup = { steps, checks: [...checks, ...recordChecks] };
