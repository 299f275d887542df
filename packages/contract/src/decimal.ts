// Exact decimal arithmetic on strings, as far as prices need it.

const places = 20;

/** Multiplies a decimal number by a whole number. */
export function decimalProduct(price: string, count: number): string {
  return format(parse(price) * BigInt(count));
}

export function decimalSum(...numbers: string[]): string {
  return format(numbers.reduce((sum, number) => sum + parse(number), 0n));
}

function parse(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(places, "0"));
}

function format(value: bigint): string {
  const digits = value.toString().padStart(places + 1, "0");
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, "");
}
