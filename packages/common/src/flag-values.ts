import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import type { Option } from "commander";

/**
 * A command of a tool that reports. Its misuse ends the program with the exit code 2, because 1 says that the report has found
 * something. `--help` ends it with 0. Giving an option twice is misuse, unless the option takes several values.
 */
export class ReportCommand extends Command {
  constructor(name?: string) {
    super(name);
    this.showHelpAfterError("(--help lists what there is)");
    this.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  }

  override createCommand(name?: string): Command {
    return new ReportCommand(name);
  }

  override addOption(option: Option): this {
    let isGiven = false;
    this.on(`option:${option.name()}`, () => {
      if (isGiven && !option.variadic) this.error(`error: option '${option.flags}' is given twice`);
      isGiven = true;
    });
    return super.addOption(option);
  }
}

/** Reads the value of a flag. @throws {InvalidArgumentError} for anything but a whole number above 0 */
export function wholeNumber(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError("It takes a whole number above 0.");
  return value;
}

/** Reads comma-separated names and returns them in the order of the known names. @throws {InvalidArgumentError} for an unknown name */
export const listOf =
  <T extends string>(known: readonly T[]) =>
  (text: string): T[] => {
    const named = text.split(",").map((name) => name.trim());
    const unknown = named.filter((name) => !known.some((one) => one === name));
    if (unknown.length > 0) {
      const names = unknown.map((name) => `"${name}"`).join(", ");
      throw new InvalidArgumentError(`There is no ${names}. There are: ${known.join(", ")}.`);
    }
    return known.filter((one) => named.includes(one));
  };

/** Returns a path that exists. @throws {InvalidArgumentError} */
export function existingPath(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })) throw new InvalidArgumentError("There is no such file or folder.");
  return path;
}

/** Returns the path of a file that can be written, so that no result is lost at the end of a run. @throws {InvalidArgumentError} */
export const writableFile = (path: string): string => tried(path, () => closeSync(openSync(path, "a")));

/** Returns the path of a folder, which is created if it does not exist. @throws {InvalidArgumentError} */
export const writableFolder = (path: string): string => tried(path, () => mkdirSync(path, { recursive: true }));

function tried(path: string, act: () => unknown): string {
  try {
    act();
    return path;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
