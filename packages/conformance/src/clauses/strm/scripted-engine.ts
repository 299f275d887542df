import { catalog, contractVersion } from "../../contract/contract.ts";
import { checkOf } from "../../judge/check.ts";
import type { Check, Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { valueAt, contentOf, isRecord, listAt, parse, textAt } from "../../judge/read.ts";
import { deadlineMs } from "../../profile.ts";
import { scripted } from "../../requests/scripted-request.ts";
import { lineEndText, paceMs, pacedText, wideCharacters } from "../../scenarios.ts";
import type { Answer } from "../../wire/answer.ts";
import { Transcript } from "./transcript.ts";

export const scriptedSteps: readonly Step[] = [
  scripted("a late failure", "late-failure"),
  scripted("an early failure, streamed", "early-failure"),
  scripted("an engine without a finish", "no-finish"),
  scripted("an engine with an odd finish", "odd-finish"),
  scripted("a slow start", "slow-start", {}, { when: "background" }),
  scripted("a silence", "silence", {}, { when: "background" }),
  scripted("a paced stream", "paced"),
  scripted("a paced stream with a stop", "paced", { stop: ["thunder"] }),
  scripted("wide characters", "characters"),
  scripted("characters that end lines", "line-ends"),
];

const graceMs = 3000;

function failedStream(
  context: Context,
  step: string,
): { readonly answer: Answer; readonly stream: Transcript; readonly error: unknown } {
  const answer = context.answer(step);
  must(
    answer.status === 200 && answer.mediaType === "text/event-stream",
    answer,
    "a stream that has begun",
    answer.summary,
  );
  const stream = new Transcript(answer);
  const error = stream.pieces.find(({ json }) => isRecord(json) && "error" in json)?.json;
  must(
    error !== undefined,
    answer,
    "an event with `error`",
    `the last event ${show(stream.pieces.at(-1)?.event.data)}`,
  );
  return { answer, stream, error };
}

const failing = ["a late failure", "an engine without a finish", "an engine with an odd finish"];

export const scriptedChecks: readonly Check[] = [
  checkOf("STRM-22", "Lets the engine fail after two texts and looks at the event.", ["a late failure"], (context) => {
    const { answer, stream, error } = failedStream(context, "a late failure");
    must(
      !Object.hasOwn(Object(error), "choices") && textAt(error, "/request_id") !== undefined,
      answer,
      "an event with `error` and `request_id`, without `choices`",
      `the event ${show(error)}`,
    );
    must(isRecord(valueAt(error, "/error")), answer, "an object as `error`", `the event ${show(error)}`);
    const piece = stream.pieces.find(({ json }) => json === error);
    must(
      piece?.event.otherFields.length === 0,
      answer,
      "an event without a name",
      `an event with ${show(piece?.event.otherFields)}`,
    );
    must(contentOf(answer) === "one two", answer, 'the text "one two" before', `the text ${show(contentOf(answer))}`);
    return show(error);
  }),
  checkOf("STRM-23", "Looks for events after the error.", ["a late failure"], (context) => {
    const { answer, stream, error } = failedStream(context, "a late failure");
    const last = stream.pieces.at(-1);
    must(last?.json === error, answer, "no event after the error", `the event ${show(last?.event.data)}`);
    must(answer.isWhole || answer.exchange.end === "reset", answer, "the end of the stream", answer.exchange.end);
    return "no event behind the error";
  }),
  checkOf("STRM-24", "Compares the request_id of the event with the header.", ["a late failure"], (context) => {
    const { answer, error } = failedStream(context, "a late failure");
    const [id, wanted] = [valueAt(error, "/request_id"), answer.header("x-request-id")];
    must(id !== undefined && id === wanted, answer, `the id ${show(wanted)}`, `the id ${show(id)}`);
    return show(id);
  }),
  checkOf(
    "STRM-25",
    "Lets the engine end without a finish_reason, and with an invalid one.",
    failing.slice(1),
    (context) => {
      for (const step of failing.slice(1)) {
        const answer = context.answer(step);
        if (answer.status !== undefined && answer.status >= 500) continue;
        const { stream } = failedStream(context, step);
        must(!stream.isDone, answer, "no [DONE]", "a clean end");
        must(
          stream.indexes.every(
            (index) => !stream.choice(index).some((choice) => typeof valueAt(choice, "/finish_reason") === "string"),
          ),
          answer,
          "no finish_reason",
          "an event with a finish_reason",
        );
      }
      return "both were reported as failures";
    },
  ),
  checkOf("STRM-26", "Lets the engine fail before its first event.", ["an early failure, streamed"], (context) => {
    const answer = context.answer("an early failure, streamed");
    must(
      answer.status !== undefined && answer.status >= 500 && answer.mediaType !== "text/event-stream",
      answer,
      "an HTTP error",
      answer.summary,
    );
    return answer.summary;
  }),
  checkOf(
    "STRM-28",
    "Lets the engine be silent at first, for longer than the server may hold the head back.",
    ["a slow start"],
    (context) => {
      const answer = context.answer("a slow start");
      const wanted = deadlineMs(context.profile, "firstEventPatienceSeconds");
      const atMs = answer.exchange.received[0]?.atMs ?? Number.POSITIVE_INFINITY;
      must(
        answer.status === 200 && atMs < wanted + 1500,
        answer,
        `the head within ${wanted} ms`,
        `${answer.status} after ${Math.round(atMs)} ms`,
      );
      must(contentOf(answer) === "late", answer, 'the text "late" in the end', `the text ${show(contentOf(answer))}`);
      return `the head after ${Math.round(atMs)} ms`;
    },
  ),
  checkOf(
    "STRM-29",
    "Lets the engine be silent in the middle.",
    ["a silence"],
    (context) => {
      const answer = context.answer("a silence");
      const wanted = deadlineMs(context.profile, "keepAliveSeconds");
      must(contentOf(answer) === "one two", answer, 'the text "one two"', answer.summary);
      const times = answer.pieces.map(({ atMs }) => atMs);
      const longest = Math.max(...times.map((time, index) => time - (times[index - 1] ?? time)));
      must(
        longest < wanted + Math.min(graceMs, wanted * 0.4),
        answer,
        `no silence above ${wanted} ms`,
        `${Math.round(longest)} ms`,
      );
      must(answer.stream.comments.length > 0, answer, "comment lines while the engine is silent", "no comment line");
      return `${answer.stream.comments.length} comments, at most ${Math.round(longest)} ms apart`;
    },
    // The deadline is the contract's own. SDKs need a stream that they can read.
    (context) => {
      const answer = context.answer("a silence");
      must(contentOf(answer) === "one two", answer, 'the text "one two"', answer.summary);
      const odd = new Transcript(answer).chunks.find(
        (one) => one.choices.length === 0 && !isRecord(valueAt(one.json, "/usage")),
      );
      must(odd === undefined, answer, "no event without a choice", show(odd?.json));
      return "every event has a choice";
    },
  ),
  checkOf(
    "STRM-31",
    "Lets the engine speak at a pace and compares the times of arrival.",
    ["a paced stream"],
    (context) => mustArrivePaced(context.answer("a paced stream")),
  ),
  checkOf(
    "STRM-33",
    "Does the same with a `stop` text that never occurs: every text is whole when it arrives.",
    ["a paced stream with a stop", "a paced stream"],
    (context) => {
      mustArrivePaced(context.answer("a paced stream"));
      return mustArrivePaced(context.answer("a paced stream with a stop"));
    },
  ),
  checkOf(
    "STRM-37",
    "Lets the engine write characters of several bytes, and looks at every piece.",
    ["wide characters"],
    (context) => {
      const answer = context.answer("wide characters");
      const stream = new Transcript(answer);
      for (const choice of stream.choice(0)) {
        const text = textAt(choice, "/delta/content") ?? "";
        must(text.isWellFormed() && !text.includes("\ufffd"), answer, "whole characters", `the text ${show(text)}`);
      }
      must(
        contentOf(answer) === wideCharacters.join(""),
        answer,
        `the text ${show(wideCharacters.join(""))}`,
        `the text ${show(contentOf(answer))}`,
      );
      return `${stream.choice(0).length} pieces`;
    },
  ),
  checkOf(
    "STRM-43",
    "Lets the engine write characters that some readers take for a line's end.",
    ["characters that end lines"],
    (context) => {
      const answer = context.answer("characters that end lines");
      must(
        contentOf(answer) === lineEndText,
        answer,
        `the text ${show(lineEndText)}`,
        `the text ${show(contentOf(answer))}`,
      );
      const odd = answer.stream.events.find(({ data }) => /[\u0085\u2028\u2029]/.test(data));
      must(odd === undefined, answer, "escapes, such as \\u2028", `the character itself in ${show(odd?.data)}`);
      return `${answer.stream.events.length} events`;
    },
  ),
  checkOf("STRM-41", "Reads the codes of all events that end a stream.", failing, (context) => {
    const codes = failing
      .map((step) => context.answer(step))
      .filter(({ status }) => status === 200)
      .map((answer) => {
        const { error } = failedStream(context, answer.name);
        const code = String(valueAt(error, "/error/code"));
        must(catalog[code]?.in_stream === true, answer, `a code that ${contractVersion} marks in_stream`, code);
        return code;
      });
    return codes.length > 0 ? codes.join(", ") : cannot("no stream failed after it had begun");
  }),
];

/** Demands that every text arrived when the engine produced it. */
function mustArrivePaced(answer: Answer): string {
  must(contentOf(answer) === pacedText, answer, `the text ${show(pacedText)}`, answer.summary);
  const words = pacedText.split(/(?= )/);
  let text = "";
  const reached: number[] = [];
  for (const { atMs, data } of answer.stream.events) {
    const json: unknown = data.startsWith("{") ? parse(data) : undefined;
    for (const choice of listAt(json, "/choices")) text += textAt(choice, "/delta/content") ?? "";
    while (reached.length < words.length && text.startsWith(words.slice(0, reached.length + 1).join("")))
      reached.push(atMs);
  }
  const gaps = reached.slice(1).map((time, index) => time - (reached[index] ?? 0));
  const least = paceMs * 0.5;
  must(
    gaps.length === words.length - 1 && gaps.every((gap) => gap >= least),
    answer,
    `texts about ${paceMs} ms apart`,
    `${gaps.map(Math.round).join(", ")} ms apart`,
  );
  return `texts ${gaps.map(Math.round).join(", ")} ms apart`;
}
