import { document, streams } from "../../contract/contract.ts";
import { runStream } from "@parley/contract/stream-machine";
import type { Context } from "../../judge/context.ts";
import { valueAt, isRecord, listAt, parse, sentBody } from "../../judge/read.ts";
import type { Answer } from "../../wire/answer.ts";
import type { StreamEvent } from "../../wire/read-events.ts";

/** An event of a stream with its data parsed. */
export interface ParsedEvent {
  readonly event: StreamEvent;
  readonly isDone: boolean;
  /** Undefined if the data is not JSON. */
  readonly json: unknown;
  readonly isError: boolean;
  readonly choices: readonly unknown[];
}

/** A stream of the run, with the options of its request. */
export class Transcript {
  readonly answer: Answer;
  readonly pieces: readonly ParsedEvent[];
  readonly n: number;
  readonly includesUsage: boolean;

  constructor(answer: Answer) {
    this.answer = answer;
    this.pieces = answer.stream.events.map(readPiece);
    const body = sentBody(answer);
    this.n = typeof body["n"] === "number" ? body["n"] : 1;
    this.includesUsage = valueAt(body, "/stream_options/include_usage") === true;
  }

  /** True if the stream should be complete: the client stayed, and it did not fail. */
  get shouldBeWhole(): boolean {
    return this.answer.exchange.end !== "disconnected" && !this.hasFailed && !this.isMadeToFail;
  }

  get hasFailed(): boolean {
    return this.pieces.some(({ isError }) => isError);
  }

  /** True if a scenario made the engine fail, or the suite stopped reading. */
  get isMadeToFail(): boolean {
    return (
      this.answer.exchange.request.behaviour !== undefined ||
      JSON.stringify(sentBody(this.answer)["messages"] ?? "").includes("script:")
    );
  }

  get isDone(): boolean {
    return this.pieces.some(({ isDone }) => isDone);
  }

  /** Events that are chunks: JSON, and not an error. */
  get chunks(): readonly ParsedEvent[] {
    return this.pieces.filter(({ json, isError }) => isRecord(json) && !isError);
  }

  get indexes(): readonly unknown[] {
    return [...new Set(this.chunks.flatMap(({ choices }) => choices.map((choice) => valueAt(choice, "/index"))))];
  }

  /** The deltas of one choice, event by event. */
  choice(index: unknown): readonly unknown[] {
    return this.chunks.flatMap(({ choices }) => choices.filter((choice) => valueAt(choice, "/index") === index));
  }

  /** The first event that the state machine of the contract does not allow. */
  get violation(): string | undefined {
    const text = this.pieces
      .map(({ event, json }) => (isRecord(json) ? JSON.stringify(json, withoutNews) : event.data.replaceAll("\n", " ")))
      .map((data) => `data: ${data}\n\n`)
      .join("");
    if (this.pieces.some(({ isDone, json }) => !isDone && json === undefined)) return "lines";
    return runStream(streams, { n: this.n, include_usage: this.includesUsage }, text).violation;
  }
}

const pieceNames = (schema: string): readonly string[] =>
  Object.keys(Object(valueAt(document.components.schemas[schema], "/properties")));
const namesOf: Readonly<Record<string, readonly string[]>> = {
  delta: pieceNames("Delta"),
  tool_calls: pieceNames("ToolCallDelta"),
  function: pieceNames("FunctionCallDelta"),
};

/** Answers may have new members. The machine tells events apart by the members that it knows, so that it gets no others. */
function withoutNews(name: string, value: unknown): unknown {
  const known = namesOf[name];
  const only = (one: unknown): unknown =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).filter(([member]) => known?.includes(member))) : one;
  if (known === undefined) return value;
  return Array.isArray(value) ? value.map(only) : only(value);
}

function readPiece(event: StreamEvent): ParsedEvent {
  const json = parse(event.data);
  return {
    event,
    isDone: event.data === "[DONE]",
    json,
    isError: isRecord(json) && "error" in json,
    choices: listAt(json, "/choices"),
  };
}

export const isFinish = (choice: unknown): boolean => typeof valueAt(choice, "/finish_reason") === "string";

export const deltaOf = (choice: unknown): Record<string, unknown> => {
  const delta = valueAt(choice, "/delta");
  return isRecord(delta) ? delta : {};
};

/** Every stream of the run that started. */
export const transcriptsOf = (context: Context): readonly Transcript[] =>
  context.all
    .filter((answer) => answer.status === 200 && answer.mediaType === "text/event-stream")
    .map((answer) => new Transcript(answer));
