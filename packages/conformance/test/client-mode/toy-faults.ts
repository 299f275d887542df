import { request as send } from "node:http";
import {
  linesWith,
  asDecodedPieces,
  splitAt,
  collectWith,
  mapMessages,
  strictly,
  eager,
  deadSockets,
  waitsOnly,
  isIn,
  mapAsync,
  isKnownReason,
  fail,
  dropsMany,
  collectNewest,
  reparse,
  endsQuietly,
  dropUnlessDone,
  withoutEnd,
  known,
} from "./broken-parts.ts";
import { readEvents, soundParts, ToyError } from "./toy-client.ts";
import type { Parts, ToyChunk } from "./toy-client.ts";

const { chunk, refusal } = soundParts;

/** Broken toys: the clause that has to fail, the fault, and the part that has it. */
export const faults: readonly (readonly [clause: string, fault: string, parts: Partial<Parts>])[] = [
  [
    "CLNT-01",
    "the key has another scheme",
    { headers: ({ apiKey }) => ({ authorization: apiKey, "content-type": "application/json" }) },
  ],
  [
    "CLNT-01",
    "the key is in the URL, too",
    { headers: (task) => ({ ...soundParts.headers(task), "x-api-key": task.apiKey }) },
  ],
  [
    "CLNT-02",
    "the body is in Latin-1",
    { body: (task) => Buffer.from(String(Buffer.from(soundParts.body(task))), "latin1") },
  ],
  [
    "CLNT-02",
    "the body is declared as text",
    { headers: (task) => ({ ...soundParts.headers(task), "content-type": "text/plain" }) },
  ],
  ["CLNT-03", "slashes are doubled", { url: (base) => `${base}/chat/completions` }],
  ["CLNT-04", "each piece is decoded alone", { bytes: asDecodedPieces }],
  ["CLNT-05", "lines end with LF only", { lines: splitAt(/\n/) }],
  ["CLNT-06", "lines do not end with CR", { lines: splitAt(/\r?\n/) }],
  [
    "CLNT-06",
    "the last line of data counts",
    { events: (lines) => readEvents(mapAsync(lines, (line) => line.replace(/^data:  .*/, ""))) },
  ],
  ["CLNT-07", "comments are data", { lines: linesWith((line) => line.replace(/^:/, "data:")) }],
  ["CLNT-08", "the space is needed", { lines: linesWith((line) => line.replace(/^data:(?! )/, "no:")) }],
  ["CLNT-09", "lines end at U+2028", { lines: splitAt(/\r\n|[\n\r\u0085\u2028\u2029]/) }],
  [
    "CLNT-10",
    "a line has at most 64 KiB",
    { lines: linesWith((line) => (line.length > 65_536 ? ": too long" : line)) },
  ],
  ["CLNT-11", "a queue has room for 4096 events", { events: dropsMany }],
  [
    "CLNT-12",
    "gzip is offered and not read",
    { headers: (task) => ({ ...soundParts.headers(task), "accept-encoding": "gzip" }) },
  ],
  [
    "CLNT-13",
    "unknown members fail",
    {
      collect: collectWith((one) =>
        strictly(
          one,
          Object.keys(one).every((name) => known.has(name)),
        ),
      ),
    },
  ],
  [
    "CLNT-14",
    "unknown finish reasons fail",
    {
      collect: collectWith((one) =>
        strictly(
          one,
          one.choices.every(({ finish_reason: reason }) => reason === null || isKnownReason(reason)),
        ),
      ),
    },
  ],
  ["CLNT-15", "null is not absent", { collect: collectWith((one) => strictly(one, one.usage !== null)) }],
  ["CLNT-16", "every chunk has a choice", { collect: collectWith((one) => strictly(one, one.choices.length > 0)) }],
  [
    "CLNT-17",
    "choices are mixed",
    { collect: collectWith((one) => ({ ...one, choices: one.choices.map((choice) => ({ ...choice, index: 0 })) })) },
  ],
  ["CLNT-18", "arguments go to the newest call", { collect: collectNewest }],
  [
    "CLNT-19",
    "reasoning is text",
    {
      collect: collectWith((one) =>
        mapMessages(one, (message) => ({
          ...message,
          content: (message.reasoning_content ?? "") + (message.content ?? ""),
        })),
      ),
    },
  ],
  [
    "CLNT-20",
    "numbers are rounded",
    { parse: (body) => JSON.parse(body.replace("4503599627370497", "4503599627370496")) as ToyChunk },
  ],
  ["CLNT-21", "arguments are parsed", { collect: collectWith((one) => mapMessages(one, reparse)) }],
  ["CLNT-22", "the error event is skipped", { chunk: (data) => (data.includes('"error"') ? undefined : chunk(data)) }],
  [
    "CLNT-22",
    "the error event has no message",
    { chunk: (data) => (data.includes('"error"') ? fail("It failed.") : chunk(data)) },
  ],
  ["CLNT-23", "a broken connection is an end", { bytes: endsQuietly, end: () => undefined }],
  ["CLNT-24", "every end is a stop", { end: (state) => void (state.finish ??= "stop") }],
  [
    "CLNT-25",
    "the stream ends with the connection",
    { events: (lines) => mapAsync(readEvents(lines), (data) => (data === "[DONE]" ? '{"choices":[]}' : data)) },
  ],
  ["CLNT-25", "without [DONE] there is no text", { end: dropUnlessDone }],
  [
    "CLNT-26",
    "events that are not JSON are skipped",
    {
      chunk: (data) => {
        try {
          return chunk(data);
        } catch (error) {
          return error instanceof SyntaxError ? undefined : fail(String(error));
        }
      },
    },
  ],
  [
    "CLNT-27",
    "errors have no status",
    { refusal: (response, body, task) => new ToyError(refusal(response, body, task).message) },
  ],
  [
    "CLNT-27",
    "errors have no message",
    { refusal: (response, body, task) => new ToyError("It failed.", refusal(response, body, task).facts) },
  ],
  [
    "CLNT-28",
    "errors have no code",
    {
      refusal: (response, body, task) => {
        const { message, facts } = refusal(response, body, task);
        return new ToyError(message, { ...facts, code: null });
      },
    },
  ],
  [
    "CLNT-29",
    "every refusal is parsed as JSON",
    {
      refusal: (response, body, task) => {
        JSON.parse(body);
        return refusal(response, body, task);
      },
    },
  ],
  ["CLNT-30", "nothing is retried", { retry: () => undefined }],
  ["CLNT-31", "seconds are not waited for", { retry: waitsOnly("retry-after") }],
  ["CLNT-32", "milliseconds are not waited for", { retry: waitsOnly("retry-after-ms") }],
  [
    "CLNT-32",
    "x-should-retry is ignored",
    { retry: (response, attempt) => (isIn(response?.statusCode, 503) && attempt < 2 ? 50 : undefined) },
  ],
  ["CLNT-33", "retries have no bound", { retry: (response) => (isIn(response?.statusCode, 500) ? 50 : undefined) }],
  [
    "CLNT-33",
    "an hour is waited for",
    {
      retry: (response) =>
        isIn(response?.statusCode, 429) ? Number(response?.headers["retry-after"]) * 1000 : undefined,
    },
  ],
  ["CLNT-34", "everything is retried", { retry: (_response, attempt) => (attempt < 2 ? 50 : undefined) }],
  ["CLNT-36", "the connection stays open", { leave: () => undefined, bytes: withoutEnd }],
  ["CLNT-37", "the stream is read into memory", { bytes: eager }],
  ["CLNT-38", "closed connections are used again", { agent: deadSockets }],
  [
    "CLNT-39",
    "a redirect is followed with the key",
    {
      redirect: ({ headers }, task) =>
        new Promise(
          (resolve) =>
            void send(String(headers.location), { method: "POST", headers: soundParts.headers(task) }, resolve).end(),
        ),
    },
  ],
  ["CLNT-40", "there is no time limit", { limit: () => () => undefined }],
  [
    "CLNT-41",
    "the time limit ends with the headers",
    { limit: (response, ...rest) => (response ? () => undefined : soundParts.limit(response, ...rest)) },
  ],
  ["CLNT-42", "the key is logged", { log: ({ apiKey }) => `authorization: ${apiKey}\n` }],
  [
    "CLNT-42",
    "the key is in a message",
    { refusal: (_response, _body, { apiKey }) => new ToyError(`The key ${apiKey} was refused.`) },
  ],
];
