/** The number of digits before the decimal point of a number, and after it. */
export interface Digits {
  readonly integer: number;
  readonly fraction: number;
}

/**
 * The maximum number of digits that a model may write. An amount with fewer digits than needed would be a different amount, so
 * the largest integer of 256 bits fits, and a fraction of 18 digits, which most crypto tokens have. Without a bound, a small
 * model could fill its whole answer with digits.
 */
export const usualDigits: Digits = { integer: 78, fraction: 20 };

/** The maximum number of digits if more would make a grammar too large. Every integer of 64 bits fits. */
export const fewDigits: Digits = { integer: 20, fraction: 20 };
