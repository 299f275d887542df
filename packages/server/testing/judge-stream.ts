import type { JsonObject } from "@parley/contract/document";
import { runStream } from "@parley/contract/stream-machine";
import type { Inputs, Streams } from "@parley/contract/stream-words";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { Chunk } from "../src/chat/relay/to-chunks.ts";
import { judgeFor } from "./judge.ts";

const streams = contract["x-streams"] as unknown as Streams; // openapi/streams.test.ts holds it to this shape

/** A complete stream, checked by the contract's state machine. */
export interface StreamReport {
  /** The state of the machine when the bytes ended: `done`, `failed`, `open` or `counted`. */
  readonly end: string;
  readonly chunks: readonly Chunk[];
  readonly error: { readonly code: string; readonly message: string; readonly requestId: string } | undefined;
  readonly comments: number;
  /** The text of the first choice. */
  readonly text: string;
}

interface ErrorEvent {
  readonly error: { readonly code: string; readonly message: string };
  readonly request_id: string;
}

/** Checks a stream. @throws {Error} if the contract does not allow it for a request with these members */
export function judgeStream(members: Readonly<Record<string, unknown>>, transcript: string): StreamReport {
  const { violation, end } = runStream(streams, inputsOf(members), transcript);
  const data = transcript.split("\n").flatMap((line) => (line.startsWith("data: {") ? [line.slice(6)] : []));
  const events = data.map((text) => JSON.parse(text) as Chunk | ErrorEvent); // judged on the next lines
  const judge = judgeFor({ $ref: "#/components/schemas/StreamEvent" } satisfies JsonObject);
  const faults = [...(violation === undefined ? [] : [violation]), ...events.flatMap(judge)];
  const last = events.at(-1);
  const error = last && "error" in last ? { ...last.error, requestId: last.request_id } : undefined;
  if (error && !isInStream(error.code)) faults.push(`${error.code} may not end a stream`);
  if (faults.length > 0) throw new Error(`the stream breaks the contract:\n${faults.join("\n")}\n${transcript}`);
  const chunks = events.filter((event): event is Chunk => "choices" in event);
  const comments = transcript.split("\n").filter((line) => line.startsWith(":")).length;
  return { end, chunks, error, comments, text: textOf(chunks, 0) };
}

/** Returns the text of one choice. */
export const textOf = (chunks: readonly Chunk[], index: number): string =>
  chunks
    .flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
    .map(({ delta }) => delta.content ?? "")
    .join("");

function inputsOf(members: Readonly<Record<string, unknown>>): Inputs {
  const options = members["stream_options"] as { include_usage?: boolean } | null | undefined; // what the test sends
  return { n: typeof members["n"] === "number" ? members["n"] : 1, include_usage: options?.include_usage === true };
}

const isInStream = (code: string): boolean =>
  Object.entries(contract["x-error-catalog"]).some(([name, entry]) => name === code && entry.in_stream);
