import type { Ability, Level } from "./contract/contract.ts";
import { limit } from "./contract/contract.ts";

/** Keys in a special state, which only the implementer can make. */
export const keyRoles = ["expired", "disabled", "spent", "requests", "tokens", "concurrency", "restricted"] as const;
export type KeyRole = (typeof keyRoles)[number];

/** What an implementer says about an implementation, and lets the suite use. It is the claims file, read. */
export interface Claims {
  readonly implementation?: { readonly name: string; readonly version?: string };
  readonly levels?: readonly Level[];
  /** What stands behind the service; undefined: not said. */
  readonly abilities?: readonly Ability[];
  readonly model?: string;
  /** Credentials, each by the name of the environment variable that holds it. */
  readonly keys?: Readonly<Partial<Record<KeyRole, { readonly env: string }>>>;
  /** Facts that go with the keys and the deployment. */
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrency?: number;
  readonly restrictedModel?: string;
  /** Choices that run at the same time, and requests that may wait for a place, for one model. */
  readonly slots?: number;
  readonly queueLength?: number;
  /** Deadlines that differ from those of `x-limits`, by the same names. */
  readonly deadlines?: Readonly<Record<string, number>>;
  readonly allowedOrigin?: string;
  /** Prints what the service recorded of a request as JSON, an empty list where it recorded nothing. `{id}` stands for it. */
  readonly records?: { readonly command?: readonly string[]; readonly url?: string };
}

/** Everything that decides which requests are sent, and how their answers are judged. */
export interface Profile extends Claims {
  readonly levels: readonly Level[];
  /** Scheme, host and port. */
  readonly origin: string;
  /** The path of the base URL, such as `/v1`. */
  readonly basePath: string;
  readonly keyRoles: readonly KeyRole[];
  readonly extraHeaders: readonly (readonly [name: string, value: string])[];
  /** Whether requests are sent to find out about levels that are not claimed. */
  readonly isProbing: boolean;
  /** Every case of a clause rather than one of them. */
  readonly isThorough: boolean;
  /** Which case, where it is one. */
  readonly seed: number;
}

/** A deadline of this deployment in milliseconds. */
export const deadlineMs = (profile: Claims, name: string): number => (profile.deadlines?.[name] ?? limit(name)) * 1000;
