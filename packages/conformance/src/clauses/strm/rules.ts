import { commonFaultsOf } from "../../contract/common-shapes.ts";
import { engineMemberIn, faultsOf } from "../../contract/contract.ts";
import { show } from "../../judge/finding.ts";
import { valueAt, isRecord } from "../../judge/read.ts";
import { callRules } from "./call-rules.ts";
import type { Rule } from "./rule.ts";
import { deltaOf, isFinish } from "./transcript.ts";
import type { ParsedEvent, Transcript } from "./transcript.ts";

const isWhole = (stream: Transcript): boolean => stream.shouldBeWhole && stream.isDone;
const hasChunks = (stream: Transcript): boolean => stream.chunks.length > 0;

/** The first fault among the choices of a stream. */
const firstFaultOf =
  (faultOf: (events: readonly unknown[], index: unknown) => string | undefined) =>
  (stream: Transcript): string | undefined =>
    stream.indexes.map((index) => faultOf(stream.choice(index), index)).find((fault) => fault !== undefined);

const kindsOf = (choice: unknown): string[] => {
  const delta = deltaOf(choice);
  const kinds = [
    ["content", "content"],
    ["reasoning", "reasoning"],
    ["reasoning_content", "reasoning"],
    ["tool_calls", "tool_calls"],
  ];
  return [...new Set(kinds.flatMap(([name = "", kind = ""]) => (name in delta ? [kind] : [])))];
};

const isUsage = ({ json, choices }: ParsedEvent): boolean => isRecord(valueAt(json, "/usage")) && choices.length === 0;
const positionsOf = (stream: Transcript, isOne: (piece: ParsedEvent) => boolean): number[] =>
  stream.pieces.flatMap((piece, index) => (isOne(piece) ? [index] : []));
const finishPositions = (stream: Transcript): number[] => positionsOf(stream, ({ choices }) => choices.some(isFinish));

function endFault(stream: Transcript): string | undefined {
  if (!stream.shouldBeWhole) return undefined;
  const done = positionsOf(stream, ({ isDone }) => isDone);
  if (done.length !== 1) return done.length === 0 ? "no event with [DONE]" : `[DONE] in ${done.length} events`;
  if (done[0] !== stream.pieces.length - 1) return `events after [DONE]: ${show(stream.pieces.at(-1)?.event.data)}`;
  if (stream.answer.stream.rest !== "") return `bytes after [DONE]: ${show(stream.answer.stream.rest)}`;
  return stream.answer.isWhole ? undefined : `a connection that ended early (${stream.answer.exchange.end})`;
}

const identities = ["id", "created", "model", "system_fingerprint"];

const eventAfterFinish = (isOdd: (choice: unknown) => boolean) =>
  firstFaultOf((events) => {
    const end = events.findIndex(isFinish);
    const odd = end < 0 ? undefined : events.slice(end + 1).find(isOdd);
    return odd === undefined ? undefined : `an event of the choice after its finish_reason: ${show(odd)}`;
  });

export const rules: readonly Rule[] = [
  {
    clause: "STRM-03",
    how: "Reads every line of every stream.",
    shows: hasChunks,
    faultOf: ({ answer, pieces }) => {
      const { oddLines, rest, isUtf8 } = answer.stream;
      if (!isUtf8) return "bytes that are not UTF-8";
      if (oddLines.length > 0) return `the line ${show(oddLines[0])}`;
      if (rest !== "" && answer.isWhole) return `a last line without an end: ${show(rest)}`;
      const odd = pieces.find(({ event }) => event.dataLines !== 1 || event.otherFields.length > 0);
      return odd && `an event with ${odd.event.dataLines} data lines and ${show(odd.event.otherFields)}`;
    },
    common: ({ pieces }) => {
      const odd = pieces.find(({ isDone, json }) => !isDone && json === undefined);
      return odd && `data that is not JSON: ${show(odd.event.data)}`;
    },
  },
  {
    clause: "STRM-04",
    how: "Looks at the first event of every choice.",
    shows: hasChunks,
    faultOf: firstFaultOf(([first]) => {
      const { role, content } = deltaOf(first);
      return role === "assistant" && content === "" ? undefined : `a first event of a choice with ${show(first)}`;
    }),
    common: firstFaultOf((events) =>
      events.some((choice) => deltaOf(choice)["role"] === "assistant")
        ? undefined
        : "no delta of a choice with the role assistant",
    ),
  },
  {
    clause: "STRM-05",
    how: "Looks for a role in the later events of every choice.",
    shows: hasChunks,
    faultOf: firstFaultOf(([, ...later]) => {
      const odd = later.find((choice) => "role" in deltaOf(choice));
      return odd === undefined ? undefined : `a later event with a role: ${show(odd)}`;
    }),
  },
  {
    clause: "STRM-06",
    how: "Counts the choices in every event.",
    shows: hasChunks,
    faultOf: (stream) => {
      const odd = stream.chunks.find((piece) => piece.choices.length !== 1 && !isUsage(piece));
      return odd && `an event with ${odd.choices.length} choices: ${show(odd.json)}`;
    },
    common: (stream) => {
      const odd = stream.chunks.find((piece) => piece.choices.length === 0 && !isUsage(piece));
      return odd && `no choice in ${show(odd.json)}`;
    },
  },
  {
    clause: "STRM-07",
    how: "Looks at every event between the first and the last of a choice.",
    shows: (stream) =>
      stream.indexes.some((index) =>
        stream.choice(index).some((choice) => kindsOf(choice).length === 1 && !("role" in deltaOf(choice))),
      ),
    faultOf: firstFaultOf(([, ...later]) => {
      const odd = later.find((choice) => !isFinish(choice) && kindsOf(choice).length !== 1);
      return odd === undefined ? undefined : `a delta with ${kindsOf(odd).length} kinds of content: ${show(odd)}`;
    }),
  },
  {
    clause: "STRM-08",
    how: "Counts the events with a finish_reason and reads their delta.",
    shows: (stream) => isWhole(stream) || finishPositions(stream).length > 0,
    faultOf: (stream) =>
      firstFaultOf((events, index) => {
        const finishes = events.filter(isFinish);
        const isOver = stream.shouldBeWhole ? finishes.length !== 1 : finishes.length > 1;
        if (isOver) return `choice ${String(index)} with ${finishes.length} events that have a finish_reason`;
        const odd = finishes.find(
          (choice) => !isRecord(valueAt(choice, "/delta")) || Object.keys(deltaOf(choice)).length > 0,
        );
        return odd === undefined ? undefined : `an event with a finish_reason whose delta is not empty: ${show(odd)}`;
      })(stream),
    common: (stream) =>
      stream.shouldBeWhole
        ? firstFaultOf((events) => (events.some(isFinish) ? undefined : "no event with a finish_reason"))(stream)
        : undefined,
  },
  {
    clause: "STRM-09",
    how: "Reads finish_reason of every event.",
    shows: hasChunks,
    faultOf: firstFaultOf((events) => {
      const odd = events.find((choice) => !isFinish(choice) && valueAt(choice, "/finish_reason") !== null);
      return odd === undefined ? undefined : `an event without finish_reason null before the end: ${show(odd)}`;
    }),
  },
  {
    clause: "STRM-10",
    how: "Looks for events of a choice after its finish_reason.",
    shows: (stream) => finishPositions(stream).length > 0,
    faultOf: eventAfterFinish((choice) => !isFinish(choice)),
    common: eventAfterFinish((choice) => ["content", "tool_calls"].some((name) => Boolean(deltaOf(choice)[name]))),
  },
  {
    clause: "STRM-11",
    how: "Counts the usage events, asked for and not.",
    shows: isWhole,
    faultOf: (stream) => {
      const count = positionsOf(stream, isUsage).length;
      const wanted = stream.includesUsage ? 1 : 0;
      return count === wanted || (!stream.shouldBeWhole && count === 0)
        ? undefined
        : `a stream with ${count} usage events where include_usage is ${stream.includesUsage}`;
    },
    common: (stream) =>
      stream.shouldBeWhole &&
      stream.includesUsage &&
      !stream.chunks.some(({ json }) => isRecord(valueAt(json, "/usage")))
        ? "no usage although include_usage is true"
        : undefined,
  },
  {
    clause: "STRM-12",
    how: "Reads `usage` of every event where the counts were asked for.",
    shows: (stream) => stream.includesUsage && hasChunks(stream),
    faultOf: (stream) => {
      const odd = stream.includesUsage
        ? stream.chunks.find((piece) => !isUsage(piece) && valueAt(piece.json, "/usage") !== null)
        : undefined;
      return odd && `an event without usage null: ${show(odd.json)}`;
    },
  },
  {
    clause: "STRM-13",
    how: "Looks for `usage` in every event where the counts were not asked for.",
    shows: (stream) => !stream.includesUsage && hasChunks(stream),
    faultOf: (stream) => {
      const odd = stream.includesUsage
        ? undefined
        : stream.chunks.find(({ json }) => isRecord(json) && "usage" in json);
      return odd && `an event with usage that nobody asked for: ${show(odd.json)}`;
    },
  },
  {
    clause: "STRM-14",
    how: "Looks at the end of every stream that did not fail.",
    shows: isWhole,
    faultOf: endFault,
  },
  {
    clause: "STRM-15",
    how: "Looks at the events before `[DONE]`.",
    shows: isWhole,
    faultOf: (stream) => faultBeforeDone(stream, isUsage),
    common: (stream) => faultBeforeDone(stream, ({ json }) => isRecord(valueAt(json, "/usage"))),
  },
  {
    clause: "STRM-16",
    how: "Compares the positions of the counts, the last finish_reason and `[DONE]`.",
    shows: (stream) => isWhole(stream) && positionsOf(stream, isUsage).length > 0,
    faultOf: (stream) => {
      const [usage] = positionsOf(stream, isUsage);
      if (usage === undefined) return undefined;
      if (usage < Math.max(...finishPositions(stream), -1)) return "the usage event before the last finish_reason";
      const [done = Number.POSITIVE_INFINITY] = positionsOf(stream, ({ isDone }) => isDone);
      return usage > done ? "the usage event after [DONE]" : undefined;
    },
  },
  {
    clause: "STRM-17",
    how: "Compares what names the answer in every event.",
    shows: (stream) => stream.chunks.length > 1,
    faultOf: ({ chunks }) => {
      const [first] = chunks;
      for (const { json } of chunks)
        for (const name of identities) {
          const [value, wanted] = [valueAt(json, `/${name}`), valueAt(first?.json, `/${name}`)];
          const isMissing = name === "id" && value === undefined;
          if (isMissing || value !== wanted)
            return `${name} ${show(value)} in a later event, and ${show(wanted)} in the first one`;
        }
      return undefined;
    },
    common: ({ chunks }) =>
      new Set(chunks.map(({ json }) => valueAt(json, "/id"))).size > 1 ? "more than one id" : undefined,
  },
  {
    clause: "STRM-18",
    how: "Holds the data of every event to the schema, and looks for members of engines.",
    shows: hasChunks,
    faultOf: ({ pieces }) => {
      for (const { isDone, json, event } of pieces) {
        if (isDone) continue;
        const schema = isRecord(json) && "error" in json ? "StreamError" : "ChatCompletionChunk";
        const [fault] = json === undefined ? ["is not JSON"] : faultsOf(schema, json);
        const leak = engineMemberIn(json);
        if (fault !== undefined || leak !== undefined) return `${fault ?? `the member ${leak}`} in ${show(event.data)}`;
      }
      return undefined;
    },
    common: ({ pieces }) => {
      for (const { isDone, isError, json, event } of pieces) {
        if (isDone || isError) continue;
        const [fault] = json === undefined ? ["is not JSON"] : commonFaultsOf("chunk", json);
        if (fault !== undefined) return `${fault} in ${show(event.data)}`;
      }
      return undefined;
    },
  },
  {
    clause: "STRM-39",
    how: "Collects the indexes of every stream.",
    shows: isWhole,
    faultOf: (stream) => {
      const isOdd = (index: unknown): boolean =>
        !Number.isInteger(index) || Number(index) < 0 || Number(index) >= stream.n;
      const odd = stream.indexes.find(isOdd);
      if (odd !== undefined) return `a choice with the index ${show(odd)} where n is ${stream.n}`;
      return stream.shouldBeWhole && stream.indexes.length !== stream.n
        ? `choices with the indexes ${show(stream.indexes)} where n is ${stream.n}`
        : undefined;
    },
    common: (stream) =>
      stream.shouldBeWhole && stream.indexes.length < stream.n
        ? `choices with the indexes ${show(stream.indexes)} where n is ${stream.n}`
        : undefined,
  },
  {
    clause: "STRM-38",
    how: "Compares both names of every piece of reasoning.",
    shows: (stream) =>
      stream.indexes.some((index) => stream.choice(index).some((choice) => "reasoning" in deltaOf(choice))),
    faultOf: firstFaultOf((events) => {
      const odd = events.find((choice) => deltaOf(choice)["reasoning"] !== deltaOf(choice)["reasoning_content"]);
      return odd === undefined ? undefined : `a delta in which reasoning and reasoning_content differ: ${show(odd)}`;
    }),
  },
  ...callRules,
];

function faultBeforeDone(stream: Transcript, isCounts: (piece: ParsedEvent) => boolean): string | undefined {
  const [done] = positionsOf(stream, ({ isDone }) => isDone);
  if (done === undefined) return undefined;
  const before = stream.pieces.slice(0, done);
  const ends = before.flatMap(({ choices }) => choices.filter(isFinish));
  const finished = new Set(ends.map((choice) => valueAt(choice, "/index")));
  const open = Array.from({ length: stream.n }, (_, index) => index).filter((index) => !finished.has(index));
  if (open.length > 0) return `[DONE] before choice ${open.join(", ")} has a finish_reason`;
  return stream.includesUsage && !before.some(isCounts) ? "[DONE] before the usage event" : undefined;
}
