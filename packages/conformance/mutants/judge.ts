import type { Check } from "../src/judge/check.ts";
import type { Level } from "../src/contract/contract.ts";
import { assess } from "../src/run/assess.ts";
import type { Assessment } from "../src/run/verdict.ts";
import type { Evidence } from "../src/run/collect.ts";
import type { Claims, KeyRole, Profile } from "../src/profile.ts";
import { gatherEvidence } from "../src/run/run.ts";

/** Something that can be judged over the wire. */
export interface Subject {
  readonly baseUrl: string;
  readonly secrets: ReadonlyMap<string, string>;
  readonly claims: Claims;
}

interface Judging {
  readonly server: Subject;
  readonly levels: readonly Level[];
  readonly isProbing?: boolean;
  readonly isThorough?: boolean;
  readonly seed?: number;
  readonly deadlineMs?: number;
  readonly budgetMs?: number;
  /** Only what these checks need is sent. */
  readonly checks?: readonly Check[];
}

export function profileOf({ server, levels, isProbing = false, isThorough = false, seed = 0 }: Judging): Profile {
  const { origin, pathname } = new URL(server.baseUrl);
  // The names of the secrets are those of the roles, but for the ordinary key.
  const keyRoles = [...server.secrets.keys()].filter((name) => name !== "key") as KeyRole[];
  return {
    ...server.claims,
    levels,
    origin,
    basePath: pathname,
    keyRoles,
    extraHeaders: [],
    isProbing,
    isThorough,
    seed,
  };
}

/** Runs the suite in this process. */
export async function gather(judging: Judging): Promise<Evidence> {
  const { server, checks, deadlineMs = 60_000, budgetMs = 380_000 } = judging;
  return gatherEvidence({ profile: profileOf(judging), secrets: server.secrets, deadlineMs, budgetMs, checks });
}

export async function judge(judging: Judging): Promise<Assessment> {
  return assess(await gather(judging), profileOf(judging));
}
