import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { SimulatedEngine } from "../native/start-engine.ts";
import { findWrongAnswer } from "./check-answers.ts";
import type { Duty } from "./duty.ts";
import { figuresOf } from "./figures.ts";
import type { RowName } from "./figures.ts";
import { LoadFailedError, measurements } from "./measure.ts";
import type { Measured, Values } from "./measure.ts";
import { useOfTree } from "./process-tree.ts";
import type { FigureResult } from "./report/result.ts";
import type { SubjectKind } from "./subjects/subject.ts";

export interface Plan {
  readonly kinds: readonly SubjectKind[];
  readonly rows: readonly RowName[];
  readonly duty: Duty;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

export interface Outcome {
  readonly figures: readonly FigureResult[];
  readonly missing: readonly string[];
  /** Subjects whose answers were not the engine's. */
  readonly wrong: readonly string[];
  /** Names of the subjects that ran. */
  readonly ran: readonly string[];
}

interface Started extends Measured {
  readonly kind: SubjectKind;
}

/** Rows for subjects that answer without the engine: they have no streams that wait for it. */
const ownRows: ReadonlySet<RowName> = new Set(["plain", "streams-500", "streams-100", "one-token", "start"]);

/** Starts the subjects, measures each row of each of them in turns, and stops them. */
export async function runRounds(plan: Plan, engine: SimulatedEngine): Promise<Outcome> {
  await using stack = new AsyncDisposableStack();
  const missing: string[] = [];
  const wrong: string[] = [];
  const started: Started[] = [];
  for (const kind of plan.kinds) {
    const why = kind.missing();
    if (why !== undefined) {
      missing.push(`${kind.title}: ${why}`);
      continue;
    }
    const one = await startSubject(kind, plan, engine, stack);
    if (typeof one === "string") {
      missing.push(`${kind.title}: ${one}`);
      continue;
    }
    const fault = one.isItsOwnEngine ? undefined : await findWrongAnswer(one.subject, engine);
    if (fault === undefined) started.push(one);
    else wrong.push(`${kind.title}: ${fault}`);
  }
  const found = await measureInTurns(plan, started, missing);
  const figures = figuresOf(plan.duty)
    .filter(({ id }) => found.has(id))
    .map((figure) => ({ ...figure, values: Object.fromEntries(found.get(figure.id) ?? []) }));
  return { figures, missing: [...missing, ...wrong], wrong, ran: started.map(({ kind }) => kind.name) };
}

/** By figure and subject: one value per round. */
type Found = Map<string, Map<string, number[]>>;

async function measureInTurns(
  { duty, rows, log }: Plan,
  started: readonly Started[],
  missing: string[],
): Promise<Found> {
  const found: Found = new Map();
  for (let round = 0; round < duty.rounds; round += 1) {
    for (const row of rows) {
      // Each round starts with a different subject.
      for (const place of started.keys()) {
        const one = started[(place + round) % started.length];
        if (!one || (one.isItsOwnEngine && !ownRows.has(row))) continue;
        const title = `round ${round + 1} of ${duty.rounds}, ${row}, ${one.kind.title}`;
        const values = await measureOne(one, row, (why) => missing.push(`${title}: ${why}`));
        for (const [id, value] of Object.entries(values)) {
          if (Number.isFinite(value)) push(found, id, one.kind.name, value);
        }
        log(`${title}: ${show(values)}`);
      }
    }
  }
  return found;
}

/** @returns the subject, or the reason why it did not start */
async function startSubject(
  kind: SubjectKind,
  { folder: parent, duty, signal, log }: Plan,
  engine: SimulatedEngine,
  stack: AsyncDisposableStack,
): Promise<Started | string> {
  signal.throwIfAborted();
  const folder = join(parent, kind.name);
  mkdirSync(folder, { recursive: true });
  const started = await kind.start(engine, folder).catch((error: unknown) => String(error));
  if (typeof started === "string") return started;
  const subject = stack.use(started);
  log(`${kind.title} answers${subject.startMs === undefined ? "" : ` after ${subject.startMs.toFixed(0)} ms`}`);
  if (subject.pid !== undefined) await wait(duty.settleSeconds * 1000, undefined, { signal });
  const restBytes = subject.pid === undefined ? undefined : useOfTree(subject.pid).memoryBytes;
  const isItsOwnEngine = kind.isItsOwnEngine === true;
  return { kind, subject, engine, duty, folder, signal, restBytes, isItsOwnEngine };
}

/** Measures one row of one subject. A failure is reported, and the other subjects go on. */
async function measureOne(measured: Started, row: RowName, fail: (why: string) => void): Promise<Values> {
  try {
    return await measurements[row](measured);
  } catch (error) {
    if (!(error instanceof LoadFailedError)) throw error;
    fail(error.message);
    return {};
  }
}

function push(found: Found, id: string, subject: string, value: number): void {
  const bySubject = found.get(id) ?? new Map<string, number[]>();
  bySubject.set(subject, [...(bySubject.get(subject) ?? []), value]);
  found.set(id, bySubject);
}

const show = (values: Values): string => {
  const shown = Object.entries(values).filter(([, value]) => Number.isFinite(value));
  return shown.map(([id, value]) => `${id} ${value.toPrecision(4)}`).join(", ") || "nothing";
};
