import { answerWhole, chunk, event, finish, openStream, reply, send, text } from "../answers.ts";
import { pause } from "../scripted-server.ts";
import type { Serve } from "../scripted-server.ts";
import { broken, describeAnswer, givesError, givesText, headersOf } from "../clause.ts";
import type { Case, ClientClause } from "../clause.ts";

const task = { call: "stream" } as const;
const first = event(chunk({ role: "assistant", content: "Hello" }));

/** Goes on until the client hangs up. */
const endless: Serve = async (_request, wire) => {
  await openStream(wire);
  await send(wire, first);
  while (!wire.isGone) {
    await send(wire, event(chunk({ content: " more" })));
    await pause(wire, 50);
  }
};

/** The longest time from the abort to the end of the connection, in milliseconds. */
const maxAbortMs = 2000;

const hangsUp: Case["judge"] = ({ answer, requests: [request], tookMs }) => {
  if (answer.aborted !== true)
    return broken("the stream, ended by the adapter after its first chunk", describeAnswer(answer));
  const closedMs = request?.closedAtMs === undefined ? undefined : request.closedAtMs - request.atMs;
  return closedMs !== undefined && closedMs <= tookMs + maxAbortMs
    ? undefined
    : broken(`the connection closed within ${maxAbortMs} ms of the abort`, "the connection stays open");
};

const pauseMs = 2500;
const offered = 64 * 1024 * 1024;
/** Buffers of the operating system take up to about 10 MB on loopback. */
const maxAhead = 24 * 1024 * 1024;

/** Offers 64 MiB while the caller reads nothing. */
const flood: Serve = async (_request, wire) => {
  await openStream(wire);
  await send(wire, first);
  const batch = event(chunk({ content: "x".repeat(65_000) }));
  const endMs = performance.now() + pauseMs - 300;
  for (let sent = 0; sent < offered && !wire.isGone && performance.now() < endMs; sent += batch.length)
    await send(wire, batch);
  await finish(wire);
};

const readsLittle: Case["judge"] = ({ answer, requests: [request] }) => {
  if (answer.aborted !== true)
    return broken("the stream, ended by the adapter after its pause", describeAnswer(answer));
  const taken = request?.takenBytes ?? 0;
  const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;
  return taken <= maxAhead ? undefined : broken(`at most ${mib(maxAhead)} read ahead of the caller`, mib(taken));
};

const closesIdle: Serve = async (request, wire) => {
  await answerWhole(request, wire);
  await pause(wire, 50);
  wire.close();
};

const redirects: Serve = (_request, wire) =>
  reply(wire, 307, "", { location: `${wire.otherBaseUrl}/chat/completions` });

const keepsKey: Case["judge"] = ({ otherRequests, task: { apiKey } }) => {
  const leak = otherRequests.find(({ target, headers, body }) =>
    [target, body.toString(), ...headers.map(([, value]) => value)].some((part) => part.includes(apiKey)),
  );
  const where = headersOf(leak, "authorization").length > 0 ? "in `Authorization`" : "in another place";
  return leak ? broken("no key in the request to the other host", `the key ${where}`) : undefined;
};

const silent: Serve = (_request, wire) => pause(wire, 60_000);

const fallsSilent: Serve = async (_request, wire) => {
  await openStream(wire);
  await send(wire, first);
  await pause(wire, 60_000);
};

const timeLimit = { timeoutMs: 1500, maxRetries: 0 };

export const connectionClauses: readonly ClientClause[] = [
  {
    id: "CLNT-36",
    keyword: "MUST",
    sentence: "A stream that the caller ends closes its connection within two seconds.",
    why: "The model writes on, and the caller pays for text that nobody reads.",
    comply: "Close the response when the loop is left, the iterator is closed or the signal aborts.",
    cases: [
      { name: "after the first chunk", task: { ...task, abortAfterFirstChunk: true }, serve: endless, judge: hangsUp },
    ],
  },
  {
    id: "CLNT-37",
    keyword: "MUST",
    sentence: "The SDK does not read without bound ahead of its caller.",
    why: "A slow reader and a fast model fill the memory of the program.",
    comply: "Read from the connection when the caller asks for the next chunk, or stop at a small buffer.",
    cases: [
      {
        name: "64 MiB while the caller pauses",
        task: { ...task, pauseAfterFirstChunkMs: pauseMs, abortAfterFirstChunk: true },
        serve: flood,
        judge: readsLittle,
      },
    ],
  },
  {
    id: "CLNT-38",
    keyword: "MUST",
    sentence: "A call works after the server has closed the idle connection of the call before.",
    why: "The first request after a quiet minute fails.",
    comply: "Notice that a pooled connection has ended, and open another one.",
    cases: [
      { name: "second call after 500 ms", task: { secondCallAfterMs: 500 }, serve: closesIdle, judge: givesText(text) },
    ],
  },
  {
    id: "CLNT-39",
    keyword: "MUST",
    sentence: "A redirect to another host does not get the key.",
    why: "A wrong or hostile redirect collects keys.",
    comply: "Do not follow redirects, or remove `Authorization` when the host changes.",
    cases: [
      { name: "307, create", task: { maxRetries: 0 }, serve: redirects, judge: keepsKey },
      { name: "307, stream", task: { ...task, maxRetries: 0 }, serve: redirects, judge: keepsKey },
    ],
  },
  {
    id: "CLNT-40",
    keyword: "MUST",
    sentence: "The time limit of the caller ends a call to a silent server.",
    why: "The program hangs for ten minutes, or for ever.",
    comply: "Apply the limit to the wait for the answer, and close the connection then.",
    cases: [{ name: "no answer", task: timeLimit, serve: silent, judge: givesError }],
  },
  {
    id: "CLNT-41",
    keyword: "SHOULD",
    sentence: "The time limit of the caller also ends a stream that falls silent.",
    why: "A stream that stops in the middle hangs the program, because the limit ended with the headers.",
    comply: "Limit the silence between two chunks, too.",
    cases: [
      { name: "silent after the first chunk", task: { ...task, ...timeLimit }, serve: fallsSilent, judge: givesError },
    ],
  },
];
