import type { CliResult } from "@parley/server/testing";
import type { ScriptStep } from "@parley/inference";

/** One attack on a running server, and the settings of that server. */
export interface Row {
  /** The name for `--only`, such as `body/properties`; `body` alone selects the group. */
  readonly name: string;
  /** The attacker's action, in one line. */
  readonly action: string;
  /** `embedded`: the demonstration models. `scripted`: a stub, for attacks on the stages before an engine. */
  readonly engine: "embedded" | "scripted";
  /** Environment variables of the server, added to those of every row. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Scripts for the scripted engine, by name. */
  readonly scenarios?: Readonly<Record<string, readonly ScriptStep[]>>;
  /** Path of the server's log; absent: a file that is deleted. */
  readonly logTo?: string;
  /** Length of the attack unless `--seconds` sets it; absent: 8 s. */
  readonly seconds?: number;
  /** The model that the neighbour uses; absent: the one that is attacked. */
  readonly neighbourModel?: string;
  /** Memory that a setting grants and this attack fills. It is added to the aim for memory. */
  readonly granted?: Granted;
  /** True if the attack itself stops the server. */
  readonly endsServer?: true;
  /** Prepares the data folder before the server starts. @returns facts that the attack needs */
  readonly prepare?: (place: Place) => Promise<Prepared> | Prepared;
  /** Attacks until the signal, in a separate thread. */
  readonly attack: (attack: Attack) => Promise<readonly Finding[]>;
}

/** An amount of memory, its use, and the setting that grants it. */
export interface Granted {
  readonly bytes: number;
  readonly what: string;
}

/** The server's data folder, and whether the short form runs. */
export interface Place {
  readonly dataDir: string;
  readonly isShort: boolean;
}

export type Prepared = Readonly<Record<string, number>>;

/** A running server, described for the thread of the attack. */
export interface Target extends Place {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly pid: number;
  readonly logFile: string;
  readonly prepared: Prepared;
}

export interface AttackKey {
  readonly id: string;
  readonly token: string;
}

export interface KeyLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly budgetUsd?: string;
}

export interface Attack {
  readonly target: Target;
  /** Aborted when the time of the attack is over. */
  readonly signal: AbortSignal;
  readonly makeKey: (limits?: KeyLimits) => Promise<AttackKey>;
  /** Runs a command of `parley` on the same data folder. */
  readonly parley: (...args: readonly string[]) => Promise<CliResult>;
}

/**
 * An observation of the attack itself. A `bound` must hold however slow the machine is. An `aim` is judged, but a missed aim
 * does not fail the run. A `figure` is only printed.
 */
export type Finding = { readonly what: string; readonly seen: string } & (
  | { readonly kind: "aim" | "bound"; readonly isKept: boolean }
  | { readonly kind: "figure" }
);

export const figure = (what: string, seen: number | string): Finding => ({ kind: "figure", what, seen: String(seen) });

const judged =
  (kind: "aim" | "bound") =>
  (what: string, isKept: boolean, seen: number | string): Finding => ({ kind, what, isKept, seen: String(seen) });

export const bound = judged("bound");
export const aim = judged("aim");
