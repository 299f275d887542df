import { InvalidArgumentError } from "commander";

/** Reads the value of a flag. @throws {InvalidArgumentError} for anything but a whole number above 0 */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError("It takes a whole number above 0.");
  return value;
}

/** Reads comma-separated names and returns them in the order of the known names. @throws {InvalidArgumentError} for an unknown name */
export const listOf =
  <T extends string>(known: readonly T[]) =>
  (text: string): T[] => {
    const named = text.split(",");
    const unknown = named.filter((name) => !known.some((one) => one === name));
    if (unknown.length > 0)
      throw new InvalidArgumentError(`There is no ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
    return known.filter((one) => named.includes(one));
  };
