/** What a check concluded about one clause. */
export type Finding =
  | { readonly kind: "kept"; readonly seen: string }
  | ({ readonly kind: "broken" } & Violation)
  | { readonly kind: "untestable"; readonly reason: string }
  | { readonly kind: "inapplicable"; readonly reason: string };

/** How a clause was broken. */
export interface Violation {
  readonly expected: string;
  readonly actual: string;
  /** The exchange that shows it. */
  readonly exchange: string | undefined;
}

class Broken extends Error {
  readonly violation: Violation;

  constructor(violation: Violation) {
    super(`expected ${violation.expected}, got ${violation.actual}`);
    this.violation = violation;
  }
}

/** Thrown where a prerequisite is missing. */
export class Untestable extends Error {}

/** Ends a check: the clause is broken. */
export function broken(exchange: { readonly name: string } | undefined, expected: string, actual: string): never {
  throw new Broken({ expected, actual, exchange: exchange?.name });
}

/** Thrown if the implementation declares that it lacks what the clause is about. */
class Inapplicable extends Error {}

/** Ends a check: the model object does not declare what the clause is about. */
export function doesNotApply(reason: string): never {
  throw new Inapplicable(reason);
}

/** Ends a check: a prerequisite is missing. */
export function cannot(reason: string): never {
  throw new Untestable(reason);
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
    return seen === "" ? { kind: "untestable", reason: "the check saw nothing" } : { kind: "kept", seen };
  } catch (error) {
    if (error instanceof Broken) return { kind: "broken", ...error.violation };
    if (error instanceof Inapplicable) return { kind: "inapplicable", reason: error.message };
    if (error instanceof Untestable) return { kind: "untestable", reason: error.message };
    throw error;
  }
}

/** A value as one short line for a report. */
export function show(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
