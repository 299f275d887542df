import type { Profile } from "../profile.ts";
import type { Answer } from "../wire/answer.ts";
import { cannot } from "./finding.ts";

/** What a step asks and a check judges from: the profile and the evidence that there is. */
export class Context {
  readonly profile: Profile;
  readonly #answers: ReadonlyMap<string, readonly Answer[]>;
  readonly #unsent: ReadonlyMap<string, string>;
  readonly #records: ReadonlyMap<string, unknown>;
  readonly #shown: ReadonlyMap<string, string>;

  constructor(
    profile: Profile,
    answers: ReadonlyMap<string, readonly Answer[]>,
    unsent: ReadonlyMap<string, string>,
    shown: ReadonlyMap<string, string> = new Map(),
    records: ReadonlyMap<string, unknown> = new Map(),
  ) {
    this.profile = profile;
    this.#answers = answers;
    this.#unsent = unsent;
    this.#shown = shown;
    this.#records = records;
  }

  /** Every answer of the run, in the order of the book, but for those about levels that are not claimed. */
  get all(): readonly Answer[] {
    return [...this.#answers].flatMap(([step, answers]) => (isProbe(step) ? [] : answers));
  }

  /** Whether there is an answer to what a step asks, its own or one that shows the same. */
  has(step: string): boolean {
    return this.wasSent(step) || this.#shown.has(step);
  }

  wasSent(step: string): boolean {
    return this.#answers.has(step);
  }

  /** The answers of a step, or the one that shows the same. */
  answers(step: string): readonly Answer[] {
    const shown = this.#shown.get(step);
    const found = this.#answers.get(step) ?? (shown === undefined ? undefined : [this.exchange(shown)]);
    return found ?? cannot(this.#unsent.get(step) ?? `the step "${step}" was not sent`);
  }

  /** An answer by the name of its exchange: that of its step, with `#2` and so on behind it for the later ones. */
  exchange(name: string): Answer {
    return this.all.find((answer) => answer.name === name) ?? cannot(`"${name}" was not sent`);
  }

  /** The answer of a step that asks once. */
  answer(step: string): Answer {
    return this.answers(step)[0] ?? cannot(`the step "${step}" has no answer`);
  }

  /** What the service recorded of the request of an answer, as the implementer's hook told it. */
  record(exchange: string): unknown {
    if (!this.#records.has(exchange)) cannot(recordsReason);
    return this.#records.get(exchange);
  }
}

/** Whether a step, or an exchange, looks at a level that is not claimed. */
export const isProbe = (name: string): boolean => name.startsWith("probe of ");

/** The step that an exchange belongs to. */
export const stepOfExchange = (name: string): string => name.replace(/ #\d+$/, "");

const recordsReason =
  "what was recorded cannot be seen: name `records` (a command or a URL that prints the record of a request id) in the claims";
