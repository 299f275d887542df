import type { JsonObject } from "./document.ts";

// The shape of streams.yaml, which explains its words.

/** The inputs of the stream machine: the options of a request that decide which events may come. */
export interface Inputs {
  readonly [name: string]: number | boolean;
}

export type GuardTest =
  | { input: string; is: number | boolean }
  | { key_below: string }
  | { every: string; below: string; in: string[] }
  | { any: string; in: string[] }
  | { none: string; in: string[] }
  | { previous: string; in: string[] };

export type InvariantTest =
  | { schema: JsonObject }
  | { constant: string[] }
  | { equal: string[] }
  | { sum: string[]; is: string };

export interface Transition {
  id: string;
  from: string;
  on: string;
  to: string;
  if?: string[];
  clause: string;
}

export interface Machine {
  within?: string;
  reads: string;
  key?: string;
  start: string;
  states: Record<string, string>;
  events: Record<string, { schema: JsonObject }>;
  transitions: Transition[];
}

export interface Invariant {
  id: string;
  clause: string;
  on: string[];
  given?: Inputs;
  test: InvariantTest;
}

export interface Streams {
  words: Record<string, string>;
  lines: { kind: string; pattern: string }[];
  inputs: Record<string, { pointer: string; absent: number | boolean }>;
  machines: Record<string, Machine>;
  guards: Record<string, { test: GuardTest }>;
  invariants: Invariant[];
  ends: Record<string, string>;
}
