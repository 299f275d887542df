import { answerWhole, text } from "./answers.ts";
import { givesText } from "./clause.ts";
import type { Case, ClientClause } from "./clause.ts";
import { clientClauses } from "./clauses/index.ts";
import { secrecyClause } from "./clauses/secrecy.ts";
import { performCase } from "./perform-case.ts";
import type { CaseLimits, CaseResult } from "./perform-case.ts";
import type { Adapter } from "./protocol.ts";

export interface ClientRun extends CaseLimits {
  /** Opens an adapter. It is called once per job. */
  readonly openAdapter: () => Adapter;
  /** Cases that run at the same time. */
  readonly jobs: number;
  /** Ids of clauses. Undefined: all. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly onCase?: (result: CaseResult) => void;
}

export interface ClauseResult {
  readonly clause: ClientClause;
  readonly state: "PASS" | "FAIL" | "WARN" | "NOT_APPLICABLE" | "UNTESTABLE";
  readonly cases: readonly CaseResult[];
}

/** The adapter cannot do the plainest tasks, so nothing can be judged. */
export class AdapterError extends Error {
  override readonly name = "AdapterError";
}

const plain = (call: "create" | "stream"): Case => ({
  name: `plain ${call}`,
  task: { call },
  serve: answerWhole,
  judge: givesText(text),
});

/** Judges a client by all chosen clauses. @throws {AdapterError} when a plain call does not give its text */
export async function judgeClient(run: ClientRun): Promise<ClauseResult[]> {
  const chosen = clientClauses.filter(({ id }) => (run.only?.includes(id) ?? true) && run.skip?.includes(id) !== true);
  const queue = chosen.flatMap((clause) => clause.cases.map((one) => ({ clause, one })));
  const results = new Map<Case, CaseResult>();
  const adapters: Adapter[] = [];
  try {
    const first = open(run, adapters);
    const plainStream = await preflight(first, run);
    const work = async (adapter: Adapter): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { clause, one } = next;
        const isOut = one.task?.call === "stream" && plainStream.state === "NOT_APPLICABLE";
        const result = isOut ? { ...plainStream, name: one.name } : await performCase(one, clause.id, adapter, run);
        results.set(one, result);
        run.onCase?.(result);
      }
    };
    const jobs = Array.from({ length: Math.min(run.jobs, queue.length) }, (_, at) =>
      at === 0 ? first : open(run, adapters),
    );
    await Promise.all(jobs.map(work));
    const logged = judgeLog([...results.values()], adapters);
    return chosen.map((clause) => {
      const cases = clause.cases.flatMap((one) => results.get(one) ?? []);
      return conclude(clause, clause === secrecyClause ? [...cases, ...logged] : cases);
    });
  } finally {
    await Promise.all(adapters.map((adapter) => adapter[Symbol.asyncDispose]()));
  }
}

function open(run: ClientRun, adapters: Adapter[]): Adapter {
  const adapter = run.openAdapter();
  adapters.push(adapter);
  return adapter;
}

/** Makes the two plainest calls. Without these positive controls, a client that always fails would keep many clauses. */
async function preflight(adapter: Adapter, limits: CaseLimits): Promise<CaseResult> {
  const [created, streamed] = [
    await performCase(plain("create"), "preflight", adapter, limits),
    await performCase(plain("stream"), "preflight", adapter, limits),
  ];
  for (const { name, state, expected, actual, note } of [created, streamed]) {
    if (state === "PASS" || (state === "NOT_APPLICABLE" && name === "plain stream")) continue;
    const log = adapter.log.trim().slice(-1000);
    const why = note ?? `expected ${expected}, got ${actual}`;
    throw new AdapterError(
      `The adapter cannot do the task "${name}": ${why}.${log === "" ? "" : `\nIt printed:\n${log}`}`,
    );
  }
  return streamed;
}

/** Searches everything that the adapters printed for the key of each case. */
function judgeLog(results: readonly CaseResult[], adapters: readonly Adapter[]): CaseResult[] {
  const log = adapters.map((adapter) => adapter.log).join("\n");
  const found = results.find(({ evidence }) => log.includes(evidence.task.apiKey));
  if (!found) return [];
  const actual = `the key in the output of the adapter, of the task "${found.evidence.task.task}"`;
  return [{ name: "all output of the run", state: "FAIL", expected: "no key", actual, evidence: found.evidence }];
}

/** A clause is broken if a case is, and kept if at least one case shows it. */
function conclude(clause: ClientClause, cases: readonly CaseResult[]): ClauseResult {
  const has = (state: CaseResult["state"]): boolean => cases.some((one) => one.state === state);
  const failed = clause.keyword === "MUST" ? "FAIL" : "WARN";
  const state = has("FAIL") ? failed : has("UNTESTABLE") ? "UNTESTABLE" : has("PASS") ? "PASS" : "NOT_APPLICABLE";
  return { clause, state, cases };
}
