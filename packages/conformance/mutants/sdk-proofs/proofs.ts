/** A bug that breaks a clause, and what a user of an SDK sees of it. */
export interface Proof {
  readonly clause: string;
  readonly bug: string;
  readonly sdk: string;
  /** The name of the call in `calls.ts`. */
  readonly call: string;
  /** The difference to the same call without the bug. */
  readonly sees: string;
}

/** The content of `sdk-proofs.json`. */
export interface Proofs {
  /** The version of each SDK. */
  readonly sdks: Readonly<Record<string, string>>;
  readonly proofs: readonly Proof[];
}
