import { recordChecks } from "./ledger.ts";
import { checkOf } from "../judge/check.ts";
import type { Chapter, Check } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot, must, show } from "../judge/finding.ts";
import {
  at,
  chunksOf,
  completionOf,
  contentOf,
  isCompletion,
  isRecord,
  mustRefuse,
  parse,
  textAt,
} from "../judge/read.ts";
import { deadlineMs } from "../run/profile.ts";
import { endlessPaceMs } from "../scenarios.ts";
import type { Answer } from "../wire/answer.ts";
import { modelId } from "./ask.ts";
import { markers, steps } from "./operations-requests.ts";

const checks: readonly Check[] = [
  checkOf(
    "AUTH-03",
    "Asks with an expired and a disabled key, and compares the answers with that to an unknown one.",
    ["expired and disabled", "AUTH-02 an unknown key"],
    (context) => {
      const trace = (answer: Answer): string =>
        show([answer.status, at(answer.json, "/error"), answer.header("www-authenticate")]);
      const unknown = context.answer("AUTH-02 an unknown key");
      if (unknown.status !== 401) cannot("an unknown key is not refused with 401");
      for (const answer of context.answers("expired and disabled"))
        must(trace(answer) === trace(unknown), answer, trace(unknown), trace(answer));
      return trace(unknown);
    },
  ),
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
        must(ids[index]?.size === 1, answer, "one id", show([...(ids[index] ?? [])]));
        const foreign = markers.find((marker, other) => other !== index && contentOf(answer).includes(marker));
        must(foreign === undefined, answer, "no text of another stream", show(contentOf(answer)));
      }
      must(
        new Set(ids.flatMap((one) => [...one])).size === answers.length,
        answers[0],
        "an id for each stream",
        show(ids.map((one) => [...one])),
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
        show(answer.header("retry-after")),
      );
      must(
        /^\d+$/.test(answer.header("retry-after-ms") ?? ""),
        answer,
        "retry-after-ms",
        show(answer.header("retry-after-ms")),
      );
    }
    return found.length > 0 ? `${found.length} answers` : cannot("no request was answered with 503");
  }),
  checkOf("OPS-06", "Asks a model whose engine has just died.", ["the death of an engine"], (context) => {
    const [, ...after] = context.answers("the death of an engine");
    for (const answer of after.filter(isCompletion))
      must(at(answer.json, "/model") === modelId(context), answer, modelId(context), show(at(answer.json, "/model")));
    const refused = after.filter((answer) => answer.status === 503);
    return refused.length > 0
      ? "it was refused rather than replaced"
      : cannot("the engine was back before it could be asked");
  }),
  checkOf(
    "OPS-07",
    "Leaves two of three streams, and reads the third to its end.",
    ["a neighbour that leaves"],
    (context) => {
      const answer = context.answer("a neighbour that leaves");
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
  checkOf("STRM-30", "Lets a stream reach the deadline of a request.", ["a stream that never ends"], (context) => {
    const answer = context.answer("a stream that never ends");
    const wanted = deadlineMs(context.profile, "requestDeadlineSeconds");
    const error = chunksOf(answer).find((chunk) => isRecord(chunk) && "error" in chunk);
    must(
      at(error, "/error/code") === "timeout",
      answer,
      "an event with the code timeout",
      show(answer.stream.events.at(-1)?.data),
    );
    must(
      answer.exchange.endedMs > wanted * 0.6,
      answer,
      `a failure after ${wanted} ms`,
      `one after ${Math.round(answer.exchange.endedMs)} ms`,
    );
    return `timeout after ${Math.round(answer.exchange.endedMs)} ms`;
  }),
  checkOf(
    "STRM-32",
    "Leaves a stream and reads in the record how much was generated.",
    ["a stream that is left"],
    mustHaveStopped,
  ),
  checkOf(
    "STRM-42",
    "Leaves answers that are not streamed until a key has no place left, and asks again with it after a second.",
    ["an answer that is left", "places given back"],
    (context) => {
      const answers = context.answers("an answer that is left");
      const last = answers.at(-1);
      if (answers.slice(0, -1).some(({ exchange }) => exchange.end !== "left")) cannot("the suite could not leave");
      must(last !== undefined && isCompletion(last), last, "200, since a place is free", last?.summary ?? "nothing");
      return "the places were free after a second";
    },
  ),
  checkOf(
    "STRM-34",
    "Takes nothing of an endless stream, for longer than the patience, and then reads what is left.",
    ["a reader that takes nothing"],
    (context) => {
      const { answer, size } = floodOf(context);
      must(size < 24_000_000, answer, "a stream that was cut", `${size} bytes`);
      const last = answer.stream.events.at(-1)?.data ?? "";
      const isToldEnd = last === "[DONE]" || isRecord(at(parse(last), "/error"));
      must(!isToldEnd && answer.exchange.end !== "timeout", answer, "a stream that is cut off", last.slice(0, 200));
      return `cut after ${size} bytes`;
    },
  ),
  checkOf(
    "STRM-40",
    "Reads the end of a stream that was cut because nobody read it.",
    ["a reader that takes nothing"],
    (context) => {
      const { answer } = floodOf(context);
      must(
        !answer.isWhole && answer.stream.events.at(-1)?.data !== "[DONE]",
        answer,
        "a connection that breaks",
        "a clean end",
      );
      return `the connection broke: ${answer.exchange.end}`;
    },
  ),
];

function floodOf(context: Context): { readonly answer: Answer; readonly size: number } {
  const answer = context.answer("a reader that takes nothing");
  if (answer.status !== 200) cannot(`not streamed: ${answer.summary}`);
  return { answer, size: answer.exchange.received.reduce((sum, { bytes }) => sum + bytes.length, 0) };
}

/** That hardly a token was generated after the caller had left, by the record. */
function mustHaveStopped(context: Context): string {
  const answer = context.answer("a stream that is left");
  if (answer.exchange.end !== "left") cannot(`the suite could not leave: ${answer.summary}`);
  const record = context.record(answer.name);
  const [first] = Array.isArray(record) ? record : [record];
  const count = at(first, "/completion_tokens");
  const most = answer.stream.events.length + (1000 + 500) / endlessPaceMs;
  must(typeof count === "number" && count <= most, answer, `at most ${Math.round(most)} tokens`, show(count));
  return `${count} tokens were generated`;
}

export const operations: Chapter = { steps, checks: [...checks, ...recordChecks] };
