import type { RunProfile } from "../profile.ts";
import type { Answer } from "../wire/answer.ts";
import { cannot } from "./finding.ts";

/** The run profile and the evidence so far, for steps and checks. */
export class Context {
  readonly profile: RunProfile;
  readonly #answers: ReadonlyMap<string, readonly Answer[]>;
  readonly #unsent: ReadonlyMap<string, string>;
  readonly #records: ReadonlyMap<string, unknown>;
  readonly #covered: ReadonlyMap<string, string>;

  constructor(
    profile: RunProfile,
    answers: ReadonlyMap<string, readonly Answer[]>,
    unsent: ReadonlyMap<string, string>,
    covered: ReadonlyMap<string, string> = new Map(),
    records: ReadonlyMap<string, unknown> = new Map(),
  ) {
    this.profile = profile;
    this.#answers = answers;
    this.#unsent = unsent;
    this.#covered = covered;
    this.#records = records;
  }

  /** Every answer of the run in the order of the catalogue, without the probes of levels that are not claimed. */
  get all(): readonly Answer[] {
    return [...this.#answers].flatMap(([step, answers]) => (isProbe(step) ? [] : answers));
  }

  /** Returns whether the step was sent, or is covered by another exchange. */
  has(step: string): boolean {
    return this.wasSent(step) || this.#covered.has(step);
  }

  wasSent(step: string): boolean {
    return this.#answers.has(step);
  }

  /** The answers of a step, or the one that covers it. */
  answers(step: string): readonly Answer[] {
    const covering = this.#covered.get(step);
    const found = this.#answers.get(step) ?? (covering === undefined ? undefined : [this.exchange(covering)]);
    return found ?? cannot(this.#unsent.get(step) ?? `the step "${step}" was not sent`);
  }

  /** An answer by the name of its exchange: the name of the step, followed by `#2`, `#3` … for its later requests. */
  exchange(name: string): Answer {
    return this.all.find((answer) => answer.name === name) ?? cannot(`"${name}" was not sent`);
  }

  /** The answer of a step that sends one request. */
  answer(step: string): Answer {
    return this.answers(step)[0] ?? cannot(`the step "${step}" has no answer`);
  }

  /** The usage records of a request, as the implementer's hook reported them. */
  record(exchange: string): unknown {
    if (!this.#records.has(exchange)) cannot(recordsReason);
    return this.#records.get(exchange);
  }
}

/** Returns whether a step or an exchange probes a level that is not claimed. */
export const isProbe = (name: string): boolean => name.startsWith("probe of ");

/** The step that an exchange belongs to. */
export const stepOfExchange = (name: string): string => name.replace(/ #\d+$/, "");

const recordsReason =
  "usage records cannot be read: name `records` (a command or a URL that prints the record of a request id) in the conformance profile";
