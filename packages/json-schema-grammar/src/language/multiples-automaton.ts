import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";
import { States, dead, explore } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import type { Decimal } from "../json/decimal.ts";
import { numberAlphabet, numberCharacters } from "./number-alphabet.ts";

/** The largest divisor, apart from powers of ten: the automaton has a state for each remainder. */
const largestDivisor = 10_000;

interface Read {
  /** The remainder of the digits so far, divided by the divisor without its power of ten. */
  readonly remainder: number;
  /** The number of zeros since the remainder was last 0, up to the number that the divisor needs. */
  readonly zeros: number;
  /** The number of digits after the point, up to those of the divisor. Undefined before the point. */
  readonly decimals: number | undefined;
}

/**
 * Builds an automaton that accepts a number without an exponent if it is a multiple of the divisor. Its result for other texts
 * is undefined.
 */
export function multiplesAutomaton(divisor: Decimal, budget: ComplexityBudget): Dfa {
  const modulus = Number(divisor.digits);
  if (modulus > largestDivisor)
    throw new SchemaTooComplexError(
      `multiples of a number with the digits ${divisor.digits} need an automaton of more than ${largestDivisor} states`,
    );
  const power = divisor.exponent - divisor.digits.length + 1;
  const zerosNeeded = Math.max(power, 0);
  const decimalsKept = Math.max(-power, 0);

  const powers = [1 % modulus];
  for (let digit = 0; digit < decimalsKept; digit++) powers.push(((powers[digit] ?? 0) * 10) % modulus);
  const isMultiple = ({ remainder, zeros, decimals = 0 }: Read): boolean =>
    (remainder * (powers[decimalsKept - decimals] ?? 0)) % modulus === 0 && zeros >= zerosNeeded;
  const readDigit = (read: Read, digit: number): Read | undefined => {
    if (read.decimals === decimalsKept) return digit === 0 && isMultiple(read) ? read : undefined;
    const remainder = (read.remainder * 10 + digit) % modulus;
    const zeros = read.remainder === 0 && digit === 0 ? Math.min(read.zeros + 1, zerosNeeded) : 0;
    return { ...read, remainder, zeros, decimals: read.decimals === undefined ? undefined : read.decimals + 1 };
  };
  const follow = (read: Read, character: string | undefined): Read | undefined => {
    if (character === undefined || "+eE".includes(character)) return undefined;
    if (character === "-") return read;
    if (character === ".") return read.decimals === undefined ? { ...read, decimals: 0 } : undefined;
    return readDigit(read, Number(character));
  };

  const states = new States<Read>(budget);
  const numberOf = (read: Read | undefined): number =>
    read === undefined ? dead : states.numberOf(`${read.remainder} ${read.zeros} ${read.decimals}`, read);
  numberOf({ remainder: 0, zeros: zerosNeeded, decimals: undefined });
  return explore(
    numberAlphabet,
    states,
    (read) => numberCharacters.map((character) => numberOf(follow(read, character))),
    isMultiple,
  );
}
