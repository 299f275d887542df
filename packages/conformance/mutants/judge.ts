import type { Check } from "../src/judge/check.ts";
import type { Level } from "../src/contract/contract.ts";
import { assess } from "../src/run/assess.ts";
import type { Assessment } from "../src/run/verdict.ts";
import type { Evidence } from "../src/run/perform-steps.ts";
import type { ConformanceProfile, KeyRole, RunProfile } from "../src/profile.ts";
import { collectEvidence } from "../src/run/collect-evidence.ts";

/** A server that can be judged over the wire. */
export interface Subject {
  readonly baseUrl: string;
  readonly secrets: ReadonlyMap<string, string>;
  readonly profile: ConformanceProfile;
}

interface Judging {
  readonly server: Subject;
  readonly levels: readonly Level[];
  readonly isProbing?: boolean;
  readonly isExhaustive?: boolean;
  readonly seed?: number;
  readonly deadlineMs?: number;
  readonly budgetMs?: number;
  /** Only what these checks need is sent. */
  readonly checks?: readonly Check[];
}

export function runProfileOf({
  server,
  levels,
  isProbing = false,
  isExhaustive = false,
  seed = 0,
}: Judging): RunProfile {
  const { origin, pathname } = new URL(server.baseUrl);
  // The names of the secrets are those of the roles, but for the ordinary key.
  const keyRoles = [...server.secrets.keys()].filter((name) => name !== "key") as KeyRole[];
  return {
    ...server.profile,
    levels,
    origin,
    basePath: pathname,
    keyRoles,
    extraHeaders: [],
    isProbing,
    isExhaustive,
    seed,
  };
}

/** Runs the suite in this process. */
export async function collect(judging: Judging): Promise<Evidence> {
  const { server, checks, deadlineMs = 60_000, budgetMs = 380_000 } = judging;
  return collectEvidence({ profile: runProfileOf(judging), secrets: server.secrets, deadlineMs, budgetMs, checks });
}

export async function judge(judging: Judging): Promise<Assessment> {
  return assess(await collect(judging), runProfileOf(judging));
}
