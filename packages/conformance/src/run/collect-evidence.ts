import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Check } from "../judge/check.ts";
import { parse } from "../judge/read.ts";
import { connectionObstacle } from "../preflight/connection-obstacle.ts";
import type { ConformanceProfile, RunProfile } from "../profile.ts";
import { unknownKey } from "../requests/keys.ts";
import { Answer } from "../wire/answer.ts";
import type { Secrets } from "../wire/http-request.ts";
import type { Target } from "../wire/connection.ts";
import type { Exchange } from "../wire/exchange.ts";
import { collect, interrupted } from "./perform-steps.ts";
import type { Evidence } from "./perform-steps.ts";
import { checksFor, stepsFor } from "./plan.ts";

export interface RunOptions {
  readonly profile: RunProfile;
  /** Values of the credentials, `key` among them. */
  readonly secrets: Secrets;
  readonly ca?: string | undefined;
  /** For one answer. */
  readonly deadlineMs: number;
  /** For the whole run. */
  readonly budgetMs: number;
  readonly maxCostUsd?: number | undefined;
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Runs first, and throws if the service cannot be judged. Returns the exchanges of the steps that it performed. */
  readonly preflight?: ((target: Target) => Promise<ReadonlyMap<string, readonly Exchange[]>>) | undefined;
  /** Ends the run. The evidence so far is returned. */
  readonly signal?: AbortSignal | undefined;
  /** A subset of the profile's checks; only what they need is sent. */
  readonly checks?: readonly Check[] | undefined;
}

const maxAnswerBytes = 4 * 1024 * 1024;

/** The service at the base URL is unreachable. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** Sends everything that the profile needs and collects the evidence. */
export async function collectEvidence({
  profile,
  secrets,
  ca,
  deadlineMs,
  budgetMs,
  maxCostUsd,
  onExchange,
  preflight,
  signal,
  checks = checksFor(profile),
}: RunOptions): Promise<Evidence> {
  const begunMs = performance.now();
  const budget = new AbortController();
  const end = (): void => budget.abort(signal?.aborted === true ? interrupted : undefined);
  const timer = setTimeout(end, budgetMs);
  signal?.addEventListener("abort", end);
  const all = new Map([...secrets, ["unknown", unknownKey]]);
  const target: Target = {
    origin: new URL(profile.origin),
    ca,
    secrets: all,
    deadlineMs,
    maxAnswerBytes,
    now: () => performance.now() - begunMs,
    signal: budget.signal,
  };
  try {
    const evidence = await collect({
      profile,
      target,
      given: await preflight?.(target),
      steps: stepsFor(checks, profile),
      recordOf: profile.records && recordLookup(profile.records, profile.origin),
      maxCostUsd,
      ...(onExchange && { onExchange }),
    });
    const [first] = evidence.exchanges;
    if (first && evidence.exchanges.every(({ end }) => end === "unreachable"))
      throw new UnreachableError(
        (await connectionObstacle(new Answer(first), target.origin)) ?? `${profile.origin} is unreachable.`,
      );
    return evidence;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

const run = promisify(execFile);

/** Reads the usage record of a request through the implementer's hook. If the command fails, there is no record. */
function recordLookup(
  { command, url }: NonNullable<ConformanceProfile["records"]>,
  origin: string,
): (requestId: string) => Promise<unknown> {
  return async (requestId) => {
    const fill = (text: string): string => text.replaceAll("{id}", requestId);
    if (url !== undefined) return readUrl(new URL(fill(url), origin));
    const [program = "", ...args] = (command ?? []).map(fill);
    const output = await run(program, args, { timeout: 20_000 }).catch(() => ({ stdout: "[]" }));
    return parse(output.stdout) ?? [];
  };
}

async function readUrl(url: URL): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) }).catch(() => undefined);
  return response?.ok === true ? response.json() : [];
}
