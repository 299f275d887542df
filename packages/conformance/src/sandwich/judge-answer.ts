import { valueAt } from "../judge/read.ts";
import { compare, parseExact } from "./compare.ts";
import type { Difference } from "./compare.ts";
import { finding, toFinding } from "./case.ts";
import type { Finding, Seen } from "./case.ts";
import type { Piece } from "./upstream.ts";

export const textOf = (pieces: readonly Piece[]): string =>
  Buffer.concat(pieces.map(({ bytes }) => Buffer.from(bytes))).toString("utf8");

/** Compares status, headers and body of an answer in one piece. */
export function judgeAnswer(seen: Seen): Finding[] {
  const { answer, script, received } = seen;
  if (received.length === 0) return [];
  const { status = 200 } = script;
  const isError = status >= 400;
  if (answer.status === undefined)
    return [finding("lost", "answer", "the answer", "The caller received no answer.", { got: answer.summary })];
  const sent = parseExact(textOf(script.pieces));
  const got = parseExact(answer.text);
  return [
    ...judgeStatus(seen),
    ...judgeHeaders(seen),
    ...(got === undefined
      ? [finding("changed", "answer", "the body", "The caller received a body that is not JSON.", { got: answer.text })]
      : isError
        ? judgeErrorBody(sent, got)
        : compare(sent, got).flatMap((difference) => toAnswerFinding(difference, seen))),
  ];
}

function judgeStatus({ answer, script: { status = 200 } }: Seen): Finding[] {
  if (answer.status === status) return [];
  // The caller is not to blame for a key of the gateway that the upstream refuses.
  const isNote = (status === 401 || status === 403) && (answer.status ?? 0) >= 500;
  const numbers = { sent: String(status), got: String(answer.status), isNote };
  return [
    finding(
      "changed",
      "answer",
      "the status",
      `The upstream answered ${status}, the caller received ${answer.status}.`,
      numbers,
    ),
  ];
}

/** The headers of an answer that callers act on, each with whether its loss is a note only. */
const answerHeaders = [
  ["retry-after", false],
  ["x-should-retry", true],
  ["x-ratelimit-remaining-requests", true],
  ["x-ratelimit-reset-requests", true],
] as const;

function judgeHeaders({ answer, script: { headers = {} } }: Seen): Finding[] {
  const type = headers["content-type"]?.split(";", 1).join("") ?? "";
  const isOtherType = type !== "" && answer.mediaType !== type;
  return [
    ...(isOtherType
      ? [
          finding("changed", "answer", "header content-type", "The media type changed.", {
            sent: type,
            got: answer.mediaType,
          }),
        ]
      : []),
    ...answerHeaders.flatMap(([name, isNote]) => {
      const [sent, got] = [headers[name], answer.header(name)];
      if (sent === undefined || sent === got) return [];
      const says = `The upstream's header ${name} did not reach the caller as it was sent.`;
      return [
        finding(got === undefined ? "lost" : "changed", "answer", `header ${name}`, says, {
          sent,
          isNote,
          ...(got !== undefined && { got }),
        }),
      ];
    }),
  ];
}

/** Compares two error bodies. A message that quotes the upstream's is a note. */
export function judgeErrorBody(sent: unknown, got: unknown): Finding[] {
  const [before, after] = [valueAt(sent, "/error"), valueAt(got, "/error")];
  if (before === undefined) return [];
  if (after === undefined || typeof after !== "object")
    return [
      finding("lost", "answer", "/error", "The caller's body has no object `error`, which SDKs read.", {
        got: JSON.stringify(got),
      }),
    ];
  return compare(before, after, "/error").map((difference) => {
    const { class: kind, at, sent: was = "", got: is = "" } = difference;
    const isQuoted = kind === "changed" && at === "/error/message" && is.includes(was.slice(1, -1));
    return toFinding(difference, "answer", {
      isNote: isQuoted || kind === "invented" || isUnknown(at) || was === "null",
    });
  });
}

const isUnknown = (at: string): boolean => /\/x_[a-z_]+/.test(at);

/** A finding from a difference of two completions or chunks, unless it only shows the gateway's name of the model. */
export function toAnswerFinding(difference: Difference, { model }: Seen): Finding[] {
  const { class: kind, at, got = "", sent = "" } = difference;
  if (at === "/model" && got === JSON.stringify(model)) return [];
  const isEmpty = (text: string): boolean => text === "null" || text === "[]" || text === "";
  const isNote =
    isUnknown(at) || (kind === "lost" && isEmpty(sent)) || (kind === "invented" && (isEmpty(got) || isOwn(at)));
  return [toFinding(difference, "answer", { isNote })];
}

/** Members that a gateway may add under a name of its own. */
const known =
  /\/(?:id|object|created|model|choices|index|message|delta|role|content|refusal|tool_calls|function_call|finish_reason|usage|[a-z]+_tokens|[a-z]+_tokens_details)(?:\/|$)/;
const isOwn = (at: string): boolean => !known.test(at.slice(at.lastIndexOf("/")));

/** More requests than one for one request of the caller. */
export function judgeRepeats({ received }: Seen, says: string, isNote = false): Finding[] {
  const { length } = received;
  return length <= 1
    ? []
    : [
        finding("invented", "connection", "repeated requests", says, {
          isNote,
          sent: "1 request",
          got: `${length} requests`,
        }),
      ];
}
