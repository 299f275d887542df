import { InvalidArgumentError } from "commander";

/** The value of a flag. @throws {InvalidArgumentError} for anything but a whole number above 0 */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError("It takes a whole number above 0.");
  return value;
}
