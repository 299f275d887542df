import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** A line of the record about one answer. */
interface AnswerLine {
  readonly operation: string;
  readonly status: number;
  readonly ms: number;
  readonly isStream?: boolean;
  readonly taken?: readonly string[];
  readonly refused?: string | null;
}

export interface Failure {
  readonly operation: string;
  readonly status: number;
  readonly failure: { readonly check: string; readonly message: string };
  readonly request: { readonly method: string; readonly path: string; readonly headers: object; readonly body: string };
}

/** Counts over a record. Names of members have no indexes. */
export interface Tally {
  readonly statuses: Map<string, number>;
  readonly taken: Map<string, number>;
  readonly refused: Map<string, number>;
  readonly failures: Failure[];
  answers: number;
  chats: number;
  chatsTaken: number;
  streamed: number;
  slowestMs: number;
}

export const newTally = (): Tally => ({
  statuses: new Map(),
  taken: new Map(),
  refused: new Map(),
  failures: [],
  answers: 0,
  chats: 0,
  chatsTaken: 0,
  streamed: 0,
  slowestMs: 0,
});

/** Adds the lines of a record; the last one may have been cut off with its run. */
export async function addRecord(tally: Tally, file: string): Promise<void> {
  for await (const text of createInterface({ input: createReadStream(file) })) {
    const line = parse(text);
    if (line && "failure" in line) tally.failures.push(line);
    else if (line) add(tally, line);
  }
}

function parse(text: string): AnswerLine | Failure | undefined {
  try {
    return JSON.parse(text) as AnswerLine | Failure; // the recorder of this folder wrote it
  } catch {
    return undefined;
  }
}

function add(tally: Tally, { operation, status, ms, isStream, taken, refused }: AnswerLine): void {
  tally.answers += 1;
  tally.slowestMs = Math.max(tally.slowestMs, ms);
  count(tally.statuses, `${operation} ${status}`);
  if (operation !== "createChatCompletion") return;
  tally.chats += 1;
  if (refused) count(tally.refused, refused);
  if (!taken) return;
  tally.chatsTaken += 1;
  if (isStream) tally.streamed += 1;
  for (const member of taken) count(tally.taken, member);
}

const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
