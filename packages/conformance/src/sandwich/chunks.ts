import { isRecord, listAt, parse, textAt, valueAt } from "../judge/read.ts";
import type { EventReading } from "../wire/read-events.ts";

export const done = "[DONE]";

/** The data of all events that are chunks of a completion. */
export const chunksIn = ({ events }: EventReading): readonly string[] =>
  events.map(({ data }) => data).filter((data) => data !== done && valueAt(parse(data), "/error") === undefined);

/** The pieces of texts and arguments, in the order of their arrival. */
export type Growth = readonly (readonly [name: string, piece: string])[];
export const piecesOf = (growth: Growth, wanted: string): string[] =>
  growth.filter(([name]) => name === wanted).map(([, piece]) => piece);

/** The growing members of a chunk, each with the piece that it carries. */
export function growthOf(data: string): Growth {
  return listAt(parse(data), "/choices").flatMap((choice) => {
    const at = `choice ${String(valueAt(choice, "/index"))}`;
    const texts = ["content", "reasoning_content", "reasoning", "refusal"].flatMap((name) => {
      const piece = textAt(choice, `/delta/${name}`);
      return piece === undefined || piece === "" ? [] : [[`${name} of ${at}`, piece] as const];
    });
    const calls = listAt(choice, "/delta/tool_calls").flatMap((call) => {
      const piece = textAt(call, "/function/arguments");
      const name = `arguments of call ${String(valueAt(call, "/index"))} of ${at}`;
      return piece === undefined || piece === "" ? [] : [[name, piece] as const];
    });
    return [...texts, ...calls];
  });
}

/** Returns whether a chunk brings the usage, and neither text nor an end. */
export function isUsageChunk(data: string): boolean {
  const chunk = parse(data);
  const isEnd = listAt(chunk, "/choices").some((choice) => typeof valueAt(choice, "/finish_reason") === "string");
  return isRecord(valueAt(chunk, "/usage")) && !isEnd && growthOf(data).length === 0;
}

/** The parts of a chunk by which it is recognized on the other side. */
function signatureOf(data: string): string {
  const chunk = parse(data);
  if (isUsageChunk(data)) return "usage";
  const choices = listAt(chunk, "/choices").map((choice) => [
    valueAt(choice, "/index"),
    ...growthOf(JSON.stringify({ choices: [choice] })),
    ...listAt(choice, "/delta/tool_calls").map((call) => valueAt(call, "/index")),
    typeof valueAt(choice, "/finish_reason") === "string",
  ]);
  return JSON.stringify(choices);
}

interface Pair {
  readonly sent: string | undefined;
  readonly got: string | undefined;
}

/** Pairs the chunks of both sides in order, by their longest common sequence. A chunk without a partner was lost or invented. */
export function pairChunks(before: readonly string[], after: readonly string[]): Pair[] {
  const [left, right] = [before.map(signatureOf), after.map(signatureOf)];
  const lengths = commonLengths(left, right);
  const pairs: Pair[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const isPair = row < before.length && column < after.length && left[row] === right[column];
    const isLost =
      column >= after.length || (row < before.length && lengths(row + 1, column) >= lengths(row, column + 1));
    pairs.push({
      sent: isPair || isLost ? before[row] : undefined,
      got: isPair || !isLost ? after[column] : undefined,
    });
    row += isPair || isLost ? 1 : 0;
    column += isPair || !isLost ? 1 : 0;
  }
  return pairs;
}

/** The length of the longest common sequence of the ends of two lists. */
function commonLengths(left: readonly string[], right: readonly string[]): (row: number, column: number) => number {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1)
    for (let column = right.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  return at;
}
