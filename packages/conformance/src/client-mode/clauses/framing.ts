import { setImmediate as turn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import {
  answerWhole,
  chunk,
  chunksOf,
  completion,
  done,
  event,
  finish,
  openStream,
  reply,
  send,
  stream,
  text,
  wholeStream,
} from "../answers.ts";
import { pause } from "../scripted-server.ts";
import type { Serve } from "../scripted-server.ts";
import { both, givesText, headersOf, notApplicable } from "../clause.ts";
import type { Case, ClientClause } from "../clause.ts";

/** A case in which a stream with the usual text arrives in an unusual form. */
const form = (name: string, ...parts: readonly (string | Uint8Array)[]): Case => ({
  name,
  task: { call: "stream" },
  serve: (_request, wire) => stream(wire, ...parts),
  judge: givesText(text),
});

const byteByByte: Serve = async (_request, wire) => {
  await openStream(wire);
  for (const byte of Buffer.from(wholeStream())) {
    if (wire.isGone) return;
    await send(wire, Uint8Array.of(byte));
    await turn();
  }
  await finish(wire);
};

const separators = "one\u0085two\u2028three\u2029four";
/** JSON allows these characters as they are, and they do not end a line of an event stream. */
const separatorEvents = [chunk({ role: "assistant", content: "" }), chunk({ content: separators }), chunk({}, "stop")];

const large = "ü🙂x".repeat(200_000);
/** Pieces that differ, because some SDKs end a stream that repeats itself. */
const manyWords = Array.from({ length: 5000 }, (_, at) => `lorem ${at} `);

const manyChunks: Serve = async (_request, wire) => {
  await openStream(wire);
  await send(wire, event(chunk({ role: "assistant", content: "" })));
  for (let at = 0; at < manyWords.length && !wire.isGone; at += 50) {
    const batch = manyWords.slice(at, at + 50).map((content) => event(chunk({ content })));
    await send(wire, batch.join(""));
  }
  await send(wire, event(chunk({}, "stop")) + done);
  await finish(wire);
};

/** Slow machines need it, and it is short enough for a cost that grows with the square. */
const longLimit = { limitMs: 60_000 };

const zipped: Serve = async (request, wire) => {
  if (!/gzip/i.test(headersOf(request, "accept-encoding").join())) return answerWhole(request, wire);
  await reply(wire, 200, gzipSync(JSON.stringify(completion())), { "content-encoding": "gzip" });
};

const slowComments: Serve = async (_request, wire) => {
  await openStream(wire);
  for (const part of [
    ": keep-alive\n\n",
    ":\n\n",
    ...chunksOf(text).flatMap((one) => [event(one), ": keep-alive\n\n"]),
    done,
  ]) {
    await send(wire, part);
    await pause(wire, 5);
  }
  await finish(wire);
};

export const framingClauses: readonly ClientClause[] = [
  {
    id: "CLNT-04",
    keyword: "MUST",
    sentence: "A stream is read the same wherever the network cuts it, also inside of a character.",
    why: "Now and then a letter or an emoji becomes `��`, or an event is lost, and no test on one machine shows it.",
    comply:
      "Keep the bytes of an incomplete character, line and event until the rest arrives. Use a decoder for streams.",
    cases: [
      { name: "one byte at a time", ...longLimit, task: { call: "stream" }, serve: byteByByte, judge: givesText(text) },
    ],
  },
  {
    id: "CLNT-05",
    keyword: "MUST",
    sentence: "Lines of a stream may end with CR LF.",
    why: "Gateways and frameworks on Windows write them. The answer stays empty, or each event is lost.",
    comply: "Split lines at CR LF as well as at LF, also if a read ends between the two.",
    cases: [
      form("whole events", ...chunksOf(text).map((one) => `data: ${one}\r\n\r\n`), "data: [DONE]\r\n\r\n"),
      form(
        "cut between CR and LF",
        ...wholeStream()
          .replaceAll("\n", "\r\n")
          .split(/(?<=\r)/),
      ),
    ],
  },
  {
    id: "CLNT-06",
    keyword: "SHOULD",
    sentence:
      "The rarer forms of event streams are read: a byte order mark, several lines of data, lines that end with CR.",
    why: "They are legal, so some server sends them, and then the SDK shows nothing.",
    comply: "Follow the HTML standard's parsing of event streams, or use a library that does.",
    cases: [
      form("byte order mark", "\uFEFF", wholeStream()),
      form(
        "several lines of data",
        ...chunksOf(text).map((one) =>
          event(JSON.stringify(JSON.parse(one), undefined, 1).replaceAll("\n", "\ndata: ")),
        ),
        done,
      ),
      form("CR", wholeStream().replaceAll("\n", "\r")),
    ],
  },
  {
    id: "CLNT-07",
    keyword: "MUST",
    sentence: "Comment lines are skipped, wherever they are.",
    why: "Servers send them while a prompt waits in a queue. A client that trips over them fails on busy days only.",
    comply: "Skip each line that begins with a colon, also before the first event.",
    cases: [
      { name: "before and between events", task: { call: "stream" }, serve: slowComments, judge: givesText(text) },
    ],
  },
  {
    id: "CLNT-08",
    keyword: "MUST",
    sentence: "Fields other than `data` are skipped, and the space after the colon may be missing.",
    why: "Gateways add `event`, `id` and `retry`. The SDK works with one gateway and not with the next.",
    comply: "Read the name of the field up to the colon. Remove one space after it, if there is one.",
    cases: [
      form(
        "other fields",
        ...chunksOf(text).map((one) => `id: 7\nretry: 10\nx-hint: {}\nnothing\n${event(one)}`),
        done,
      ),
      form("event: message", ...chunksOf(text).map((one) => `event: message\n${event(one)}`), done),
      form("without the space", ...chunksOf(text).map((one) => `data:${one}\n\n`), "data:[DONE]\n\n"),
    ],
  },
  {
    id: "CLNT-09",
    keyword: "MUST",
    sentence: "U+0085, U+2028 and U+2029 inside of an event do not end its line.",
    why: "One such character in an answer, from a copied web page for example, breaks the rest of it.",
    comply: "Split lines at CR and LF only. Functions such as Python's `splitlines` split at more.",
    cases: [{ ...form("as they are", ...separatorEvents.map(event), done), judge: givesText(separators) }],
  },
  {
    id: "CLNT-10",
    keyword: "MUST",
    sentence: "An event may be large: 1 MiB arrives whole.",
    why: "Long arguments of a tool, or an answer that a gateway has buffered, end with an error about a line or a buffer.",
    comply: "Let the buffer of a line grow. Go's `bufio.Scanner` stops at 64 KiB unless told otherwise.",
    cases: [
      {
        ...form(
          "one delta",
          ...[chunk({ role: "assistant", content: "" }), chunk({ content: large }), chunk({}, "stop")].map(event),
          done,
        ),
        ...longLimit,
        judge: givesText(large),
      },
    ],
  },
  {
    id: "CLNT-11",
    keyword: "MUST",
    sentence: "A stream of 5000 events arrives whole within a minute.",
    why: "A cost that grows with the square of the length makes long answers slower and slower.",
    comply: "Do not copy or parse the whole answer again for each event.",
    cases: [
      {
        name: "5000 events",
        ...longLimit,
        task: { call: "stream" },
        serve: manyChunks,
        judge: givesText(manyWords.join("")),
      },
    ],
  },
  {
    id: "CLNT-12",
    keyword: "MUST",
    sentence: "A client that offers `gzip` in `Accept-Encoding` reads an answer that is compressed so.",
    why: "A proxy that compresses makes every answer unreadable.",
    comply: "Send `Accept-Encoding` only if the HTTP library decodes what it names.",
    cases: [
      {
        name: "answer in one body",
        serve: zipped,
        judge: both(
          ({ requests: [request] }) =>
            /gzip/i.test(headersOf(request, "accept-encoding").join())
              ? undefined
              : notApplicable("it does not offer gzip"),
          givesText(text),
        ),
      },
    ],
  },
];
