/** The number of digits before the decimal point of a number, and after it. */
export interface Digits {
  readonly integer: number;
  readonly fraction: number;
}

/**
 * The digits that a model may write. An amount that has to be cut becomes another amount, so the largest integer of 256 bits fits, and
 * a fraction of 18 digits, which most tokens have. Without a bound, a small model could fill its whole answer with digits.
 */
export const usualDigits: Digits = { integer: 78, fraction: 20 };

/** The digits that a model may write where more would make a grammar too large. They hold every integer of 64 bits. */
export const fewDigits: Digits = { integer: 20, fraction: 20 };
