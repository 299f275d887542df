import { show } from "../../judge/finding.ts";
import { valueAt, listAt } from "../../judge/read.ts";
import type { Rule } from "./rule.ts";
import type { Transcript } from "./transcript.ts";

/** The clauses about calls in a stream. */
export const callRules: readonly Rule[] = [
  {
    clause: "STRM-19",
    how: "Looks for id, type and name in every piece of every call.",
    shows: (stream) => callPieces(stream).length > 0,
    faultOf: (stream) =>
      eachCall(stream, ([first, ...later]) => {
        const isWholeStart = ["/id", "/type", "/function/name"].every(
          (pointer) => typeof valueAt(first, pointer) === "string",
        );
        if (!isWholeStart) return `a first piece of a call without id, type or name: ${show(first)}`;
        const odd = later.find((call) =>
          ["/id", "/type", "/function/name"].some((pointer) => valueAt(call, pointer) !== undefined),
        );
        return odd === undefined ? undefined : `a later piece of a call that repeats id, type or name: ${show(odd)}`;
      }),
    common: (stream) =>
      eachCall(stream, ([first, ...later]) => {
        if (typeof valueAt(first, "/id") !== "string" || typeof valueAt(first, "/function/name") !== "string")
          return `first ${show(first)}`;
        // SDKs join the texts of all pieces, so only an empty one does no harm.
        const odd = later.find((call) => ["/id", "/function/name"].some((pointer) => Boolean(valueAt(call, pointer))));
        return odd === undefined ? undefined : `later ${show(odd)}`;
      }),
  },
  {
    clause: "STRM-20",
    how: "Reads the indexes of the calls in the order in which they begin.",
    shows: (stream) => callPieces(stream).length > 0,
    faultOf: (stream) =>
      stream.indexes
        .map((index) => [...new Set(callsOf(stream, index).map((call) => valueAt(call, "/index")))])
        .map((indexes) =>
          indexes.every((index, place) => index === place) ? undefined : `calls with the indexes ${show(indexes)}`,
        )
        .find((fault) => fault !== undefined),
  },
  {
    clause: "STRM-21",
    how: "Reads every later piece of every call.",
    shows: (stream) => stream.indexes.some((index) => callsOf(stream, index).length > 1),
    faultOf: (stream) =>
      eachCall(stream, ([first, ...later]) => {
        if (valueAt(first, "/id") === undefined && valueAt(first, "/function/arguments") !== undefined)
          return `arguments before the call: ${show(first)}`;
        const odd = later.find(
          (call) =>
            typeof valueAt(call, "/function/arguments") !== "string" ||
            ["/id", "/type", "/function/name"].some((pointer) => valueAt(call, pointer) !== undefined),
        );
        return odd === undefined
          ? undefined
          : `a later piece of a call with more than arguments, or without them: ${show(odd)}`;
      }),
    common: (stream) =>
      eachCall(stream, ([first]) =>
        typeof valueAt(first, "/id") === "string" ? undefined : `a piece before the call: ${show(first)}`,
      ),
  },
];

const callsOf = (stream: Transcript, index: unknown): unknown[] =>
  stream.choice(index).flatMap((choice) => [...listAt(choice, "/delta/tool_calls")]);
const callPieces = (stream: Transcript): unknown[] => stream.indexes.flatMap((index) => callsOf(stream, index));

function eachCall(stream: Transcript, faultOf: (pieces: readonly unknown[]) => string | undefined): string | undefined {
  return stream.indexes
    .flatMap((index) => byCall(callsOf(stream, index)))
    .map(faultOf)
    .find((fault) => fault !== undefined);
}

/** The deltas of each call, in order. */
function byCall(pieces: readonly unknown[]): (readonly unknown[])[] {
  const indexes = [...new Set(pieces.map((piece) => valueAt(piece, "/index")))];
  return indexes.map((index) => pieces.filter((piece) => valueAt(piece, "/index") === index));
}
