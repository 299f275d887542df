/** The conclusion of a check about one clause. */
export type Finding =
  | { readonly kind: "kept"; readonly seen: string }
  | ({ readonly kind: "broken" } & Violation)
  | { readonly kind: "untestable"; readonly reason: string }
  | { readonly kind: "inapplicable"; readonly reason: string };

/** The expected and the actual behaviour where a clause is broken. */
export interface Violation {
  readonly expected: string;
  readonly actual: string;
  /** The exchange that shows it. */
  readonly exchange: string | undefined;
  /** The member of the answer that is wrong, if the check knows it. Failures with the same wrong value have one cause. */
  readonly member?: WrongMember;
}

export interface WrongMember {
  readonly name: string;
  /** Its value, as one short line. */
  readonly value: string;
}

class BrokenError extends Error {
  override readonly name = "BrokenError";
  readonly violation: Violation;

  constructor(violation: Violation) {
    super(`expected ${violation.expected}, got ${violation.actual}`);
    this.violation = violation;
  }
}

/** Thrown if a prerequisite of a check is missing. */
export class UntestableError extends Error {
  override readonly name = "UntestableError";
}

/** Ends a check: the clause is broken. */
export function broken(
  exchange: { readonly name: string } | undefined,
  expected: string,
  actual: string,
  member?: WrongMember,
): never {
  throw new BrokenError({ expected, actual, exchange: exchange?.name, ...(member && { member }) });
}

/** Thrown if the implementation does not declare the feature of the clause. */
class InapplicableError extends Error {
  override readonly name = "InapplicableError";
}

/** Ends a check: the model object does not declare the feature of the clause. */
export function doesNotApply(reason: string): never {
  throw new InapplicableError(reason);
}

/** Ends a check: a prerequisite is missing. */
export function cannot(reason: string): never {
  throw new UntestableError(reason);
}

/** Ends a check as broken unless the condition holds. */
export function must(
  isTrue: boolean,
  exchange: { readonly name: string } | undefined,
  expected: string,
  actual: string,
): asserts isTrue {
  if (!isTrue) broken(exchange, expected, actual);
}

/** Runs a check. It returns what was seen; an empty text means that nothing was seen, which proves nothing. */
export function find(check: () => string): Finding {
  try {
    const seen = check();
    return seen === ""
      ? { kind: "untestable", reason: "no answer of the run shows whether it is kept" }
      : { kind: "kept", seen };
  } catch (error) {
    if (error instanceof BrokenError) return { kind: "broken", ...error.violation };
    if (error instanceof InapplicableError) return { kind: "inapplicable", reason: error.message };
    if (error instanceof UntestableError) return { kind: "untestable", reason: error.message };
    throw error;
  }
}

/** A header as one short line for a report. */
export function showHeader(
  answer: { readonly header: (name: string) => string | undefined } | undefined,
  name: string,
): string {
  const value = answer?.header(name);
  return value === undefined ? `no header ${name}` : `the header ${name}: ${value}`;
}

/** A value as one short line for a report. */
export function show(value: unknown): string {
  const text = value === undefined ? "no value" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
