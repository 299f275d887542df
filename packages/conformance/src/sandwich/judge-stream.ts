import { listAt, parse, valueAt } from "../judge/read.ts";
import { readEvents } from "../wire/read-events.ts";
import type { EventReading } from "../wire/read-events.ts";
import { finding } from "./case.ts";
import type { Finding, Seen } from "./case.ts";
import { chunksIn, done, growthOf, isUsageChunk, pairChunks, piecesOf } from "./chunks.ts";
import type { Growth } from "./chunks.ts";
import { compare, parseExact } from "./compare.ts";
import { judgeErrorBody, toAnswerFinding } from "./judge-answer.ts";

/** Reads the events that the upstream wrote. */
const writtenStream = ({ script: { pieces } }: Seen): EventReading =>
  readEvents(pieces.map(({ bytes }) => ({ atMs: 0, bytes: Buffer.from(bytes) })));

/** Compares a stream event by event. */
export function judgeStream(seen: Seen): Finding[] {
  const { answer, received } = seen;
  if (received.length === 0) return [];
  if (answer.status !== 200 || answer.mediaType !== "text/event-stream")
    return [
      finding(
        "changed",
        "answer",
        "the stream",
        "The upstream answered with a stream, and the caller received something else.",
        { got: answer.summary },
      ),
    ];
  const [written, read] = [writtenStream(seen), answer.stream];
  return [
    ...judgeText(written, read),
    ...judgeChunks(seen, written, read),
    ...judgeRole(written, read),
    ...judgeDone(written, read),
    ...judgeBytes(written, read),
  ];
}

const growthIn = (stream: EventReading): Growth => chunksIn(stream).flatMap(growthOf);

/** Compares texts and arguments: the whole, the number of pieces, and their order among each other. */
function judgeText(written: EventReading, read: EventReading): Finding[] {
  const [before, after] = [growthIn(written), growthIn(read)];
  const names = [...new Set([...before, ...after].map(([name]) => name))];
  const findings = names.flatMap((name) => {
    const [sent, got] = [piecesOf(before, name), piecesOf(after, name)];
    const [whole, arrived] = [sent.join(""), got.join("")];
    if (whole !== arrived) {
      const kind = arrived === "" ? "lost" : whole === "" ? "invented" : "changed";
      return [
        finding(kind, "answer", name, `The ${name} is not the one that the upstream wrote.`, {
          sent: JSON.stringify(whole),
          got: JSON.stringify(arrived),
        }),
      ];
    }
    if (got.length === sent.length) return [];
    const says = got.length < sent.length ? "Pieces of a stream were merged." : "Pieces of a stream were split.";
    return [
      finding("changed", "answer", "pieces", says, {
        isNote: true,
        sent: `${sent.length} pieces`,
        got: `${got.length} pieces`,
      }),
    ];
  });
  const order = (growth: Growth): string =>
    growth
      .map(([name]) => name)
      .filter((name, index, all) => name !== all[index - 1])
      .join(", ");
  if (findings.length === 0 && order(before) !== order(after))
    return [
      finding("changed", "answer", "the order of pieces", "Pieces of a stream were reordered.", {
        sent: order(before),
        got: order(after),
      }),
    ];
  return findings;
}

function judgeChunks(seen: Seen, written: EventReading, read: EventReading): Finding[] {
  const found = pairChunks(chunksIn(written), chunksIn(read)).flatMap(({ sent, got }): Finding[] => {
    if (sent !== undefined && got !== undefined)
      return compare(parseExact(sent), parseExact(got)).flatMap((difference) => toAnswerFinding(difference, seen));
    const data = sent ?? got ?? "";
    // `judgeText` compares what such a chunk carries.
    if (growthOf(data).length > 0) return [];
    const [kind, at] = [sent === undefined ? "invented" : "lost", nameOf(data)] as const;
    const says =
      kind === "lost" ? `The ${at} of a stream did not reach the caller.` : `The gateway added a ${at} to a stream.`;
    const isNote = at === "chunk without news";
    return [
      finding(kind, "answer", at, says, {
        isNote,
        ...(sent !== undefined && { sent }),
        ...(got !== undefined && { got }),
      }),
    ];
  });
  return [...new Map(found.map((one) => [`${one.class} ${one.at.replaceAll(/\d+/g, "N")}`, one])).values()];
}

function nameOf(data: string): string {
  const chunk = parse(data);
  const finish = listAt(chunk, "/choices").find((choice) => typeof valueAt(choice, "/finish_reason") === "string");
  if (finish !== undefined) return "chunk with the finish_reason";
  if (listAt(chunk, "/choices").some((choice) => listAt(choice, "/delta/tool_calls").length > 0))
    return "chunk that begins a tool call";
  return isUsageChunk(data) ? "chunk with the usage" : "chunk without news";
}

/** A message without its role cannot be put into the next request. */
function judgeRole(written: EventReading, read: EventReading): Finding[] {
  const hasRole = (stream: EventReading): boolean =>
    chunksIn(stream).some((data) =>
      listAt(parse(data), "/choices").some((choice) => valueAt(choice, "/delta/role") === "assistant"),
    );
  return hasRole(written) && !hasRole(read)
    ? [finding("lost", "answer", "the role", "No chunk of the stream has the role that the upstream wrote.")]
    : [];
}

function judgeDone(written: EventReading, read: EventReading): Finding[] {
  const count = ({ events }: EventReading): number => events.filter(({ data }) => data === done).length;
  const [sent, got] = [count(written), count(read)];
  if (sent === got) return [];
  const kind = got < sent ? "lost" : "invented";
  const says =
    kind === "lost"
      ? "The stream ended without the upstream's [DONE]."
      : "The gateway wrote a [DONE] that the upstream did not write.";
  return [finding(kind, "answer", done, says, { sent: `${sent}`, got: `${got}` })];
}

function judgeBytes(written: EventReading, read: EventReading): Finding[] {
  const isBroken = !read.isUtf8 || read.events.some(({ data }) => data.includes("\ufffd"));
  return [
    ...(isBroken ? [finding("changed", "answer", "characters", "A character of several bytes was broken.")] : []),
    ...(written.comments.length > 0 && read.comments.length === 0
      ? [
          finding(
            "lost",
            "answer",
            "comments",
            "Comment lines, which keep a silent connection open, did not reach the caller.",
            { isNote: true },
          ),
        ]
      : []),
  ];
}

/** Judges a stream that the upstream ended with an error event, or did not end: the caller has to be able to tell. */
export function judgeBrokenStream(seen: Seen): Finding[] {
  const { answer, received, script } = seen;
  if (received.length === 0) return [];
  const written = writtenStream(seen);
  const read = answer.stream;
  const error = (one: EventReading): unknown =>
    one.events.map(({ data }) => parse(data)).find((json) => valueAt(json, "/error") !== undefined);
  const [sent, got] = [error(written), error(read)];
  const isHttpError = (answer.status ?? 0) >= 400;
  // A caller can tell an error event, an error status, and a connection that breaks.
  const isVisible = got !== undefined || isHttpError || !answer.isWhole;
  const how = sent === undefined ? (script.end === "reset" ? "was cut off" : "ended without an end") : "failed";
  const ended = finishIn(read);
  return [
    ...(isVisible || (script.end !== "reset" && sent === undefined)
      ? []
      : [
          finding(
            "lost",
            "answer",
            "the failure",
            `The upstream's stream ${how}, and the caller's ended as if nothing had happened.`,
            { got: read.events.at(-1)?.data ?? "" },
          ),
        ]),
    ...(ended !== undefined && finishIn(written) === undefined
      ? [
          finding(
            "invented",
            "answer",
            "finish_reason",
            `The upstream's stream ${how}, and the caller received a finish_reason.`,
            { got: ended },
          ),
        ]
      : []),
    ...(read.events.some(({ data }) => data === done)
      ? [finding("invented", "answer", done, `The upstream's stream ${how}, and the caller received [DONE].`)]
      : []),
    ...(sent !== undefined && got !== undefined ? judgeErrorBody(sent, got) : []),
    ...(isHttpError ? [] : judgeText(written, read)),
  ];
}

const finishIn = ({ events }: EventReading): string | undefined =>
  events
    .flatMap(({ data }) => [...listAt(parse(data), "/choices")])
    .map((choice) => valueAt(choice, "/finish_reason"))
    .find((reason): reason is string => typeof reason === "string");
