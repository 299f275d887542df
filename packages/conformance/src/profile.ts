import type { Capability, Level } from "./contract/contract.ts";
import { limit } from "./contract/contract.ts";
import type { ProfileName, Selection } from "./contract/select-clauses.ts";

/** Keys in a special state, which only the implementer can create. */
export const keyRoles = [
  "expired",
  "disabled",
  "spent",
  "raised",
  "requests",
  "tokens",
  "concurrency",
  "restricted",
] as const;
export type KeyRole = (typeof keyRoles)[number];

/** The declarations of an implementer about an implementation, and the keys and hooks that the suite may use: the file that
 * `--profile` names. */
export interface ConformanceProfile extends Selection {
  readonly implementation?: { readonly name: string; readonly version?: string };
  readonly levels?: readonly Level[];
  /** Abilities of the model behind the service; undefined: not declared. */
  readonly capabilities?: readonly Capability[];
  readonly model?: string;
  /** Credentials, each by the name of the environment variable that holds it. */
  readonly keys?: Readonly<Partial<Record<KeyRole, { readonly env: string }>>>;
  /** The limits of those keys. */
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrency?: number;
  readonly restrictedModel?: string;
  /** For one model: choices that run at the same time, and requests that may wait in its queue. */
  readonly slots?: number;
  readonly queueLength?: number;
  /** Deadlines that differ from those of `x-limits`, by the same names. */
  readonly deadlines?: Readonly<Record<string, number>>;
  readonly allowedOrigin?: string;
  /** Prints the usage records of the request `{id}` as JSON, an empty list if there are none. */
  readonly records?: { readonly command?: readonly string[]; readonly url?: string };
}

/** Everything that decides which requests are sent, and how their answers are judged. */
export interface RunProfile extends ConformanceProfile {
  readonly levels: readonly Level[];
  /** The profile that decides by which part of a clause a service is judged: `parley` by all of it, every other one by the part
   * that every OpenAI-compatible server owes. Absent: `parley`. */
  readonly base?: ProfileName;
  /** Levels that nobody claimed. Their clauses are judged unless the service refuses the request that probes the level. */
  readonly presumed?: readonly Level[];
  /** The frozen set of requirements, such as 2026-12. Absent: those of this version of the suite. */
  readonly requirements?: string;
  /** True if the run sends no key: it judges what a service answers to strangers. */
  readonly isKeyless?: boolean;
  /** True if a MUST that could not be judged makes the exit code 3. */
  readonly requiresAll?: boolean;
  /** The ids of the clauses to judge. Absent: every clause of the contract. */
  readonly clauses?: readonly string[];
  /** Scheme, host and port. */
  readonly origin: string;
  /** The path of the base URL, such as `/v1`. */
  readonly basePath: string;
  readonly keyRoles: readonly KeyRole[];
  readonly extraHeaders: readonly (readonly [name: string, value: string])[];
  /** True if the run sends requests that probe levels that are not claimed. */
  readonly isProbing: boolean;
  /** True if the run sends every case of every clause, rather than one or a few. */
  readonly isExhaustive: boolean;
  /** Chooses the cases of a run that is not exhaustive. */
  readonly seed: number;
}

/** A deadline of this deployment in milliseconds. */
export const deadlineMs = (profile: ConformanceProfile, name: string): number =>
  (profile.deadlines?.[name] ?? limit(name)) * 1000;
