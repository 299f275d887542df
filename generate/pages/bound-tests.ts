import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "../..");
const chat = "packages/server/src/operations/create-chat-completion";
const server = "packages/server/test";

/** A file, and a text in it: the title of a test, or of a row of its table. */
type BoundTest = readonly [file: string, title: string];

const bodies: BoundTest = [
  `${chat}/429.test.ts`,
  "are limited for each key and for all, before a byte is read, and released when the caller disconnects",
];
const largestAnswer: BoundTest = [
  `${server}/gathered-answers.test.ts`,
  "may be as large as the bound, and is refused with one byte more, and charged",
];
const slowReader: BoundTest = [
  `${server}/streams.test.ts`,
  "STRM-34 OPS-14 STRM-40 is disconnected after its generation was paused, and charged like one that disconnects itself",
];
const lateHead: BoundTest = [`${server}/edges.test.ts`, "HTTP-19 that does not come in time is answered with 408: %j"];
const lateBody: BoundTest = [`${chat}/408.test.ts`, "HTTP-20 LIM-02 a body %s"];
const lateRequest: BoundTest = [`${chat}/504.test.ts`, "OPS-03 STRM-30 an answer that does not come whole in time: %s"];
const lateEvent: BoundTest = [
  `${server}/streams.test.ts`,
  "STRM-28 STRM-26 the head comes after a while of patience, and until then a failure is an HTTP error",
];
const queue: BoundTest = [
  `${chat}/429.test.ts`,
  "LIM-14 LIM-10 LIM-17 that is full refuses at once, and the wait in it is bounded",
];
const schemas = `${chat}/400-tools.test.ts`;

/** The test that exceeds each bound. The key is the bound's name in the contract, its setting, or the text of a fixed bound. */
const tests: Readonly<Record<string, BoundTest | "none">> = {
  maxUrlCharacters: [`${server}/refused-heads.ts`, "HTTP-22 a URL that is longer than the contract allows is refused"],
  maxHeaderBytes: [`${server}/refused-heads.ts`, "more bytes of headers than the contract allows"],
  maxHeaderFields: [`${server}/refused-heads.ts`, "more header fields than the contract allows"],
  preflightCacheSeconds: "none",
  maxPipelinedRequests: [`${server}/unread-answers.test.ts`, "close the connection when one more comes"],
  maxBodyBytes: [`${chat}/413.test.ts`, "HTTP-07 LIM-02 a byte more is"],
  bodyBytesPerKey: bodies,
  maxNestingLevels: [`${chat}/400-json.test.ts`, "HTTP-14 HTTP-15 of %s may have 128 levels and no more"],
  maxBodyValues: [`${chat}/400-json.test.ts`, "may be the bound, and not one more"],
  headDeadlineSeconds: lateHead,
  bodyDeadlineSeconds: lateBody,
  requestDeadlineSeconds: lateRequest,
  firstEventPatienceSeconds: lateEvent,
  keepAliveSeconds: [`${server}/streams.test.ts`, "STRM-29 comments interrupt the silence, and they are not events"],
  hangUpSeconds: [`${server}/streams.test.ts`, "%s stops the generation within a second, and is charged"],
  slowReaderBufferBytes: slowReader,
  slowReaderSeconds: slowReader,
  answerBytes: largestAnswer,
  ignoredParamsShown: [`${chat}/200-members.test.ts`, "REQ-15 sixteen of many are named"],
  ignoredParamNameBytes: [`${chat}/200-members.test.ts`, "REQ-17 a name is cut at 128 bytes"],
  clientRequestIdCharacters: [`${server}/edges.test.ts`, "HTTP-32 513 characters"],
  errorMessageCharacters: [
    `${chat}/400.test.ts`,
    "ERR-13 of a path that is too long %s, and the message ends in front of a character",
  ],
  noRetryAboveSeconds: [
    `${chat}/429.test.ts`,
    "LIM-12 may be owed, and a wait of more than a minute is said to be one",
  ],
  schemaSubschemas: [schemas, "too many %s are refused"],
  schemaCharacters: [schemas, "too many %s are refused"],
  schemaReferences: ["packages/json-schema-grammar/src/compile-schema.test.ts", "thousands of references in a row"],
  schemaGrammarRules: [schemas, "as many grammar rules as the contract allows are taken, and one more is refused"],
  shownSchemaCharacters: [
    `${chat}/200-tools.test.ts`,
    "FMT-17 the schema is in the prompt where the model is shown it, up to its bound",
  ],
  exactPromptContexts: ["packages/inference/test/embedded-start.test.ts", "that is longer is counted no further"],
  contextLengthTokens: [`${chat}/400.test.ts`, "MSG-23 MSG-24 is refused in words that clients know"],
  maxCompletionTokens: [
    `${chat}/200-members.test.ts`,
    "is lowered to what the model object says, and the head of a stream names it, too",
  ],

  PARLEY_MAX_SOCKETS: [
    `${server}/sockets.test.ts`,
    "leave a place for /health and /ready, and for nothing else, where each has shown a valid key",
  ],
  PARLEY_SOCKETS_PER_ADDRESS: [`${server}/sockets.test.ts`, "take no place of another address"],
  PARLEY_BODY_BYTES_PER_KEY: bodies,
  PARLEY_BODY_BYTES: bodies,
  PARLEY_ANSWER_BYTES: largestAnswer,
  PARLEY_TOTAL_ANSWER_BYTES: [
    `${server}/gathered-answers.test.ts`,
    "the key with the most bytes loses its largest answer, and no other answer is affected",
  ],
  PARLEY_REQUESTS_PER_MINUTE: [
    `${chat}/429.test.ts`,
    "LIM-06 are shown to a key without limits of its own, and leave other keys theirs",
  ],
  PARLEY_TOKENS_PER_MINUTE: [
    `${chat}/429.test.ts`,
    "LIM-16 LIM-12 are never enough for a request that is above the limit alone",
  ],
  PARLEY_TOTAL_REQUESTS_PER_MINUTE: [
    `${chat}/429.test.ts`,
    "LIM-07 holds over all keys, and is shown where it is lower than the limit of a key",
  ],
  PARLEY_TOTAL_TOKENS_PER_MINUTE: [`${chat}/429.test.ts`, "LIM-08 that of tokens holds over all keys"],
  PARLEY_RESERVED_TOKENS: [
    `${chat}/429.test.ts`,
    "LIM-08 LIM-13 are limited, and the refusal says when there will be enough",
  ],
  PARLEY_QUEUE_LENGTH: queue,
  PARLEY_QUEUE_WAIT_SECONDS: queue,
  PARLEY_HEAD_TIMEOUT_SECONDS: lateHead,
  PARLEY_BODY_TIMEOUT_SECONDS: lateBody,
  PARLEY_REQUEST_TIMEOUT_SECONDS: lateRequest,
  PARLEY_FIRST_EVENT_SECONDS: lateEvent,
  PARLEY_SLOW_READER_SECONDS: slowReader,

  "16 connections": [
    `${server}/sockets.test.ts`,
    "leave a place for /health and /ready, and for nothing else, where each has shown a valid key",
  ],
  "64 connections": [`${server}/sockets.test.ts`, "of the port of the metrics have a bound of their own"],
  "1048576 bytes": [
    "packages/server/src/observe/log-output.test.ts",
    "lines beyond the bound are lost while the reader does not read, and their number is reported when it reads again",
  ],
  "256 characters": [`${server}/observe.test.ts`, "cuts a path at 256 characters"],
  "600 lines a minute": [
    "packages/server/src/observe/refusal-sample.test.ts",
    "600 lines a minute are written, and the first of the next minute has the number that was left out",
  ],
  "10000 keys": [`${server}/state/key-store.test.ts`, "keys are found after any number of other keys"],
};

/** Returns a link to the test that exceeds the bound, or `–`. @throws {Error} for a bound that is not in the table */
export function testOf(bound: string): string {
  const test = tests[bound];
  if (test === undefined) throw new Error(`generate/pages/bound-tests.ts names no test that exceeds ${bound}.`);
  return test === "none" ? "–" : linkTo(test);
}

/** Checks that the file has a test of this title. @throws {Error} */
export function linkTo([file, title]: BoundTest): string {
  const path = join(root, file);
  if (!existsSync(path) || !readFileSync(path, "utf8").includes(`"${title}"`))
    throw new Error(`generate/pages/bound-tests.ts: ${file} has no test "${title}".`);
  return `[${basename(file).replace(/(?:\.test)?\.ts$/, "")}](../../${file})`;
}
