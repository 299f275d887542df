import { checkOf } from "../../judge/check.ts";
import type { Check, Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { valueAt, chunksOf, isCompletion, isRecord, parse } from "../../judge/read.ts";
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
      when: "background",
      options: (context) => ({
        behaviour: { deadlineMs: deadlineMs(context.profile, "requestDeadlineSeconds") + 5000 },
      }),
    },
  ),
  scripted("a stream the client disconnects from", "endless", endless, {
    isRecorded: true,
    options: () => ({ behaviour: { disconnectAfterEvents: 20 } }),
  }),
  scripted(
    "an answer the client disconnects from",
    "endless",
    {},
    {
      needs: ["models", "slots released"],
      when: "background",
      requests: (context) => {
        const slots = needsKey(context, "concurrency", "concurrency");
        needsScript(context);
        const abandoned = chat(
          context,
          { ...play("conformance-endless"), ...endless },
          { key: "concurrency", behaviour: { disconnectAfterMs: 700 } },
        );
        return [
          ...Array.from({ length: slots }, () => abandoned),
          chat(context, { max_completion_tokens: 1 }, { key: "concurrency", behaviour: { delayMs: 1000 } }),
        ];
      },
    },
  ),
  scripted("a reader that takes nothing", "flood", endless, {
    when: "background",
    isRecorded: true,
    options: (context) => {
      const patience = deadlineMs(context.profile, "slowReaderSeconds");
      return { behaviour: { stopReadingMs: patience + 8000, maxBytes: 33_554_432, deadlineMs: patience + 30_000 } };
    },
  }),
];

export const earlyEndChecks: readonly Check[] = [
  checkOf("STRM-30", "Lets a stream reach the deadline of a request.", ["a stream that never ends"], (context) => {
    const answer = context.answer("a stream that never ends");
    const wanted = deadlineMs(context.profile, "requestDeadlineSeconds");
    const error = chunksOf(answer).find((chunk) => isRecord(chunk) && "error" in chunk);
    must(
      valueAt(error, "/error/code") === "timeout",
      answer,
      "an event with the code timeout",
      `the last event ${show(answer.stream.events.at(-1)?.data)}`,
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
    "Disconnects from a stream and reads in the usage record how much was generated.",
    ["a stream the client disconnects from"],
    mustHaveStopped,
  ),
  checkOf(
    "STRM-42",
    "Disconnects from answers that are not streamed until a key has no concurrency slot left, and asks again with it after a second.",
    ["an answer the client disconnects from", "slots released"],
    (context) => {
      const answers = context.answers("an answer the client disconnects from");
      const last = answers.at(-1);
      if (answers.slice(0, -1).some(({ exchange }) => exchange.end !== "disconnected"))
        cannot("the suite could not disconnect");
      must(
        last !== undefined && isCompletion(last),
        last,
        "status 200, since a slot is free",
        last?.summary ?? "no answer",
      );
      return "the slots were free after a second";
    },
  ),
  checkOf(
    "STRM-34",
    "Stops reading an endless stream for longer than the server waits, and then reads the rest.",
    ["a reader that takes nothing"],
    (context) => {
      const { answer, size } = floodOf(context);
      must(size < 24_000_000, answer, "a stream that was cut", `${size} bytes`);
      const last = answer.stream.events.at(-1)?.data ?? "";
      const isToldEnd = last === "[DONE]" || isRecord(valueAt(parse(last), "/error"));
      must(!isToldEnd && answer.exchange.end !== "timeout", answer, "a stream that is cut off", last.slice(0, 200));
      return `cut after ${size} bytes`;
    },
  ),
  checkOf(
    "STRM-40",
    "Reads the end of a stream that was cut off because nobody read it.",
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

/** Demands that hardly any token was generated after the client had disconnected, by the usage record. */
function mustHaveStopped(context: Context): string {
  const answer = context.answer("a stream the client disconnects from");
  if (answer.exchange.end !== "disconnected") cannot(`the suite could not disconnect: ${answer.summary}`);
  const record = context.record(answer.name);
  const [first] = Array.isArray(record) ? record : [record];
  const count = valueAt(first, "/completion_tokens");
  const most = answer.stream.events.length + (1000 + 500) / endlessPaceMs;
  must(
    typeof count === "number" && count <= most,
    answer,
    `at most ${Math.round(most)} tokens`,
    `completion_tokens ${show(count)}`,
  );
  return `${count} tokens were generated`;
}
