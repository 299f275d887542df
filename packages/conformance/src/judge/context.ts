import type { Profile } from "../run/profile.ts";
import type { Answer } from "../wire/answer.ts";
import { cannot } from "./finding.ts";

/** What a step asks and a check judges from: the profile and the evidence that there is. */
export class Context {
  readonly profile: Profile;
  readonly #answers: ReadonlyMap<string, readonly Answer[]>;
  readonly #unsent: ReadonlyMap<string, string>;
  readonly #records: ReadonlyMap<string, unknown>;

  constructor(
    profile: Profile,
    answers: ReadonlyMap<string, readonly Answer[]>,
    unsent: ReadonlyMap<string, string>,
    records: ReadonlyMap<string, unknown> = new Map(),
  ) {
    this.profile = profile;
    this.#answers = answers;
    this.#unsent = unsent;
    this.#records = records;
  }

  /** Every answer of the run, in the order of the book. */
  get all(): readonly Answer[] {
    return [...this.#answers.values()].flat();
  }

  has(step: string): boolean {
    return this.#answers.has(step);
  }

  /** The answers of a step. */
  answers(step: string): readonly Answer[] {
    return this.#answers.get(step) ?? cannot(this.#unsent.get(step) ?? `the step "${step}" was not sent`);
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

const recordsReason =
  "what was recorded cannot be seen: name `records` (a command or a URL that prints the record of a request id) in the claims";
