import type { CliResult } from "@parley/server/testing";
import type { ScriptStep } from "@parley/inference";

/** One attack on a running server, and what it has to leave as it was. */
export interface Row {
  /** What `--only` takes: `body/properties`, or `body` for its whole group. */
  readonly name: string;
  /** What the attacker does, in one line. */
  readonly action: string;
  /** `embedded`: the demonstration models. `scripted`: a stub, where the attack is on what stands before an engine. */
  readonly engine: "embedded" | "scripted";
  /** The server's environment, beside what every row has. */
  readonly settings?: Readonly<Record<string, string>>;
  /** What a scripted engine plays, by name. */
  readonly scenarios?: Readonly<Record<string, readonly ScriptStep[]>>;
  /** Where the server's log goes; absent: to a file that is deleted. */
  readonly logTo?: string;
  /** How long the attack takes where `--seconds` says nothing; absent: 8 s. */
  readonly seconds?: number;
  /** The model that the neighbour asks; absent: the one that is attacked. */
  readonly neighbourModel?: string;
  /** Memory that the operator has granted by a setting, and that this attack fills: it may come on top of the aim. */
  readonly granted?: Granted;
  /** The attack itself tells the server to stop. */
  readonly endsServer?: true;
  /** Prepares the data folder before a server uses it. @returns what the attack has to know of it */
  readonly prepare?: (place: Place) => Promise<Prepared> | Prepared;
  /** Attacks until the signal, in a thread of its own. @returns what it has seen */
  readonly attack: (attack: Attack) => Promise<readonly Finding[]>;
}

/** So many bytes, for what, and by which setting. */
export interface Granted {
  readonly bytes: number;
  readonly what: string;
}

/** Where a server keeps its data, and whether the short form is run. */
export interface Place {
  readonly dataDir: string;
  readonly isShort: boolean;
}

export type Prepared = Readonly<Record<string, number>>;

/** A running server, as the thread of the attack gets to know it. */
export interface Target extends Place {
  /** Without a path. */
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
 * What an attack has seen beside the neighbour. A `bound` has to hold however slow the machine is. An `aim` is judged, and
 * stops nothing when it is missed. A `figure` is printed.
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
