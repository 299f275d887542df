import type { ComplexityBudget } from "../complexity-budget.ts";
import { plainDigits } from "../json/decimal.ts";
import type { Decimal } from "../json/decimal.ts";
import { States, dead, explore } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import { numberAlphabet, numberCharacters } from "./number-alphabet.ts";

/** The result of comparing a number with the bound: less, equal or more. */
export type Order = -1 | 0 | 1;

/**
 * Builds an automaton that accepts a spelling of a number if `accepts` allows its comparison with the bound. Its result for
 * other texts is undefined. Two spellings are excluded: an exponent unless one digit from 1 to 9 is before the point, and a
 * zero with a sign.
 */
export function comparisonAutomaton(bound: Decimal, accepts: (order: Order) => boolean, budget: ComplexityBudget): Dfa {
  const comparison = new Comparison(bound);
  const states = new States<Read | Order>(budget);
  const numberOf = (read: Read | Order | undefined): number =>
    read === undefined ? dead : states.numberOf(keyOf(read), read);
  numberOf(start);
  const follow = (read: Read | Order, character: string | undefined): number =>
    character === undefined ? dead : numberOf(comparison.follow(read, character));
  return explore(
    numberAlphabet,
    states,
    (read) => numberCharacters.map((character) => follow(read, character)),
    (read) => accepts(comparison.end(read)),
  );
}

/** The state of reading a number. When the order is certain, only the order is kept. */
interface Read {
  readonly part: "start" | "integer" | "fraction" | "exponent";
  /** The number of digits of this part. In an integer or exponent, leading zeros do not count. */
  readonly digits: number;
  /** The comparison of the digits with those of the bound: all digits so far, or those of the exponent. */
  readonly order: Order;
  /** The comparison of the digits before the exponent with those of the bound, both as d.ddd. */
  readonly mantissa: Order;
  /** The exponent is negative. */
  readonly isNegative: boolean;
}

const start: Read = { part: "start", digits: 0, order: 0, mantissa: 0, isNegative: false };

const keyOf = (read: Read | Order): string =>
  typeof read === "number"
    ? String(read)
    : `${read.part}${read.digits} ${read.order}${read.mantissa}${read.isNegative ? "-" : ""}`;

class Comparison {
  readonly #bound: Decimal;
  readonly #integer: string;
  readonly #fraction: string;
  readonly #exponent: string;

  constructor(bound: Decimal) {
    const { integer, fraction } = plainDigits(bound);
    this.#bound = bound;
    this.#integer = integer;
    this.#fraction = fraction;
    this.#exponent = bound.exponent === 0 ? "" : String(Math.abs(bound.exponent));
  }

  follow(read: Read | Order, character: string): Read | Order | undefined {
    if (typeof read === "number") return read;
    const { part } = read;
    if (part === "start") return this.#begin(character);
    if (character === "-" || character === "+")
      return part === "exponent" ? { ...read, isNegative: character === "-" } : undefined;
    if (character === ".")
      return part === "integer"
        ? { ...read, part: "fraction", digits: 0, order: endInteger(read, this.#integer) }
        : undefined;
    if (character === "e" || character === "E") return part === "exponent" ? undefined : this.#beginExponent(read);
    return part === "fraction"
      ? this.#readFraction(read, Number(character))
      : readInteger(read, Number(character), part === "integer" ? this.#integer : this.#exponent, this.#bound);
  }

  /** If the signs differ, they decide. */
  #begin(character: string): Read | Order | undefined {
    const { isNegative } = this.#bound;
    const begun: Read = { ...start, part: "integer" };
    if (character === "-") return isNegative ? begun : -1;
    return isNegative ? 1 : this.follow(begun, character);
  }

  #readFraction(read: Read, digit: number): Read {
    const { digits } = this.#bound;
    return {
      ...read,
      digits: Math.min(read.digits + 1, Math.max(this.#fraction.length, digits.length)),
      order: read.order || compareDigit(digit, this.#fraction[read.digits]),
      mantissa: read.mantissa || compareDigit(digit, digits[read.digits + 1]),
    };
  }

  #beginExponent(read: Read): Read | Order {
    const { digits } = this.#bound;
    if (digits === "") return 1;
    const length = 1 + (read.part === "fraction" ? read.digits : 0);
    return {
      part: "exponent",
      digits: 0,
      order: 0,
      mantissa: read.mantissa || (length < digits.length ? -1 : 0),
      isNegative: false,
    };
  }

  /** Returns the order of a number that ends here. */
  end(read: Read | Order): Order {
    if (typeof read === "number") return read;
    const further = this.#endMagnitude(read);
    return this.#bound.isNegative ? reverse(further) : further;
  }

  /** Compares the absolute values of the number and the bound. */
  #endMagnitude(read: Read): Order {
    if (read.part === "exponent") return this.#endExponent(read) || read.mantissa;
    const isFraction = read.part === "fraction";
    const order = isFraction ? read.order : endInteger(read, this.#integer);
    return order || ((isFraction ? read.digits : 0) < this.#fraction.length ? -1 : 0);
  }

  #endExponent(read: Read): Order {
    const further = endInteger(read, this.#exponent);
    const isBoundNegative = this.#bound.exponent < 0;
    if (!read.isNegative) return isBoundNegative ? 1 : further;
    if (isBoundNegative) return reverse(further);
    return read.digits === 0 && this.#exponent === "" ? 0 : -1;
  }
}

/** Reads one more digit of an integer or an exponent. @param against the digits of the bound */
function readInteger(read: Read, digit: number, against: string, { digits }: Decimal): Read {
  if (read.digits === 0 && digit === 0) return read;
  return {
    ...read,
    digits: Math.min(read.digits + 1, against.length + 1),
    order: read.order || compareDigit(digit, against[read.digits]),
    mantissa: read.part === "integer" && read.digits === 0 ? compareDigit(digit, digits[0]) : read.mantissa,
  };
}

/** An integer with more digits is larger. */
function endInteger({ digits, order }: Read, against: string): Order {
  return digits === against.length ? order : compare(digits, against.length);
}

const compareDigit = (digit: number, against = "0"): Order => compare(digit, Number(against));

const compare = (one: number, other: number): Order => (one === other ? 0 : one < other ? -1 : 1);

const reverse = (order: Order): Order => (order === 0 ? 0 : order === 1 ? -1 : 1);
