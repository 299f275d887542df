import { checkOf } from "../../judge/check.ts";
import type { Check, Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { at, chunksOf, isCompletion, isRecord, parse } from "../../judge/read.ts";
import { deadlineMs } from "../../profile.ts";
import { chat, play } from "../../requests/chat-request.ts";
import { needsKey } from "../../requests/keys.ts";
import { endless, needsScript, scripted } from "../../requests/scripted-request.ts";
import { endlessPaceMs } from "../../scenarios.ts";
import type { Answer } from "../../wire/answer.ts";

export const earlyEndSteps: readonly Step[] = [
  scripted(
    "a stream that never ends",
    "stall",
    {},
    {
      when: "aside",
      options: (context) => ({ manner: { deadlineMs: deadlineMs(context.profile, "requestDeadlineSeconds") + 5000 } }),
    },
  ),
  scripted("a stream that is left", "endless", endless, {
    isRecorded: true,
    options: () => ({ manner: { leaveAfterEvents: 20 } }),
  }),
  scripted(
    "an answer that is left",
    "endless",
    {},
    {
      needs: ["models", "places given back"],
      when: "aside",
      asks: (context) => {
        const places = needsKey(context, "concurrency", "concurrency");
        needsScript(context);
        const left = chat(
          context,
          { ...play("conformance-endless"), ...endless },
          { key: "concurrency", manner: { leaveAfterMs: 700 } },
        );
        return [
          ...Array.from({ length: places }, () => left),
          chat(context, { max_completion_tokens: 1 }, { key: "concurrency", manner: { delayMs: 1000 } }),
        ];
      },
    },
  ),
  scripted("a reader that takes nothing", "flood", endless, {
    when: "aside",
    isRecorded: true,
    options: (context) => {
      const patience = deadlineMs(context.profile, "slowReaderSeconds");
      return { manner: { stopReadingMs: patience + 8000, maxBytes: 33_554_432, deadlineMs: patience + 30_000 } };
    },
  }),
];

export const earlyEndChecks: readonly Check[] = [
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
