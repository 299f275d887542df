import { chunksOf, completion, done, envelope, event, openStream, reply, send, stream, text } from "../answers.ts";
import type { Serve, Wire } from "../scripted-server.ts";
import { pause } from "../scripted-server.ts";
import { both, broken, describeAnswer, givesError, givesText, looksIncomplete, show } from "../clause.ts";
import type { Case, ClientClause } from "../clause.ts";

const task = { call: "stream" } as const;

/** The beginning of an answer: the role, and some of its text. */
const beginning = chunksOf(text).slice(0, 3).map(event).join("");
const beginningText = "Grüße aus Zürich";

const begun =
  (end: (wire: Wire) => void): Serve =>
  async (_request, wire) => {
    await openStream(wire);
    await send(wire, beginning);
    await pause(wire, 100); // a reset would overtake the bytes
    end(wire);
  };

const failure = envelope(502, "upstream_error") as { readonly error: { readonly message: string } };

/** Judges that the caller is told of the error in the stream, in the words of the server. */
const tellsFailure: Case["judge"] = ({ answer: { error, ...rest } }) =>
  error?.message?.includes(failure.error.message)
    ? undefined
    : broken(`an error with ${show(failure.error.message)}`, describeAnswer({ ...rest, ...(error && { error }) }));

const keepsBeginning: Case["judge"] = ({ answer }) =>
  answer.text === beginningText ? undefined : broken(`the text so far, ${show(beginningText)}`, show(answer.text));

const page = "<!DOCTYPE html><html><body><h1>Maintenance</h1></body></html>";

const staysOpen: Serve = async (_request, wire) => {
  await openStream(wire);
  await send(wire, chunksOf(text).map(event).join("") + done);
  await pause(wire, 60_000);
};

const halfBody: Serve = async (_request, wire) => {
  const whole = Buffer.from(JSON.stringify(completion()));
  await reply(wire, 200, whole.subarray(0, 100), { "content-length": String(whole.length) });
  wire.close();
};

export const endingClauses: readonly ClientClause[] = [
  {
    id: "CLNT-22",
    keyword: "MUST",
    sentence: "An error event in a stream becomes an error of the SDK with the server's message.",
    why: "Half an answer looks like a whole one, and the reason is lost.",
    comply: "Look for `error` in each event before you decode it as a chunk.",
    cases: [
      {
        name: "after some text",
        task,
        serve: (_request, wire) => stream(wire, beginning, event(JSON.stringify(failure))),
        judge: both(tellsFailure, keepsBeginning),
      },
      {
        name: "as the first event",
        task: { ...task, maxRetries: 0 },
        serve: (_request, wire) => stream(wire, event(JSON.stringify(failure))),
        judge: tellsFailure,
      },
      {
        name: "with `event: error`",
        task,
        serve: (_request, wire) => stream(wire, beginning, `event: error\n${event(JSON.stringify(failure))}`),
        judge: tellsFailure,
      },
    ],
  },
  {
    id: "CLNT-23",
    keyword: "MUST",
    sentence: "A connection that breaks is an error: in a stream, in a body, and before the first byte.",
    why: "A truncated answer is stored, paid and shown as if it were whole.",
    comply: "Treat the end of the bytes without the last chunk, or before `Content-Length`, as an error.",
    cases: [
      {
        name: "closed in a stream",
        task,
        serve: begun((wire) => wire.close()),
        judge: both(givesError, keepsBeginning),
      },
      { name: "reset in a stream", task, serve: begun((wire) => wire.reset()), judge: givesError },
      { name: "closed in a body", serve: halfBody, judge: givesError },
      {
        name: "closed before the answer",
        task: { maxRetries: 0 },
        serve: (_request, wire) => wire.close(),
        judge: givesError,
      },
    ],
  },
  {
    id: "CLNT-24",
    keyword: "MUST",
    sentence: "A stream that ends without a finish reason and without `[DONE]` does not look complete.",
    why: "A gateway that restarts ends streams in good order. Half an answer is taken for a whole one.",
    comply: "Report an error if the stream ends before `[DONE]` or a finish reason. Do not invent `stop`.",
    cases: [
      { name: "after some text", task, serve: (_request, wire) => stream(wire, beginning), judge: looksIncomplete },
      { name: "without any event", task, serve: (_request, wire) => stream(wire), judge: looksIncomplete },
    ],
  },
  {
    id: "CLNT-25",
    keyword: "MUST",
    sentence:
      "`[DONE]` ends the answer, even if the connection stays open; a missing one after the finish reason loses no text.",
    why: "The program waits for a connection that nobody closes, or throws a paid answer away.",
    comply: "Stop at `[DONE]`. If it is missing, give the caller the text that has arrived.",
    cases: [
      { name: "the connection stays open", task, serve: staysOpen, judge: givesText(text) },
      {
        name: "without `[DONE]`",
        task,
        serve: (_request, wire) => stream(wire, ...chunksOf(text).map(event)),
        judge: ({ answer }) =>
          answer.text === text ? undefined : broken(`the text ${show(text)}`, describeAnswer(answer)),
      },
    ],
  },
  {
    id: "CLNT-26",
    keyword: "MUST",
    sentence:
      "A body with status 200 that is not a completion is reported as an error, such as a web page or an event that is not JSON.",
    why: "A login page or a note of a proxy becomes an empty answer, and the program goes on with nothing.",
    comply: "Check the `Content-Type`, and report JSON that cannot be read.",
    cases: [
      {
        name: "page, create",
        serve: (_request, wire) => reply(wire, 200, page, { "content-type": "text/html" }),
        judge: givesError,
      },
      {
        name: "page, stream",
        task,
        serve: (_request, wire) => reply(wire, 200, page, { "content-type": "text/html" }),
        judge: looksIncomplete,
      },
      {
        name: "half an event",
        task,
        serve: (_request, wire) =>
          stream(wire, beginning, event('{"id":"chatcmpl-1","choi'), event(chunksOf(text).at(-1) ?? ""), done),
        judge: givesError,
      },
    ],
  },
];
