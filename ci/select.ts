import { execFileSync } from "node:child_process";
import leven from "leven";
import { root } from "./root.ts";
import { isInputOf } from "./step.ts";
import type { RunnerName, Step } from "./step.ts";

/** The chosen steps of the table, and the others with the reason why they are left out. */
export interface Selection {
  readonly chosen: readonly Step[];
  readonly left: readonly { readonly step: Step; readonly reason: string }[];
}

/** The user's selection is not possible. The message says which choices exist. */
export class SelectionError extends Error {
  override readonly name = "SelectionError";
}

/** Selects the steps of the table that this runner runs. */
export function stepsOf(runner: RunnerName, steps: readonly Step[]): Selection {
  const others = {
    host: "only the Dagger pipeline runs it: pnpm run pipeline",
    dagger: "only a host runs it: pnpm test",
  };
  return split(steps, ({ runners }) => runners.includes(runner), others[runner]);
}

/** Finds steps by name; `fuzz` selects `fuzz:schema` and the other runs. @throws {SelectionError} for an unknown name */
export function stepsNamed(names: readonly string[], steps: readonly Step[]): readonly Step[] {
  const isMeant = (step: Step, name: string): boolean => step.name === name || step.name.startsWith(`${name}:`);
  const unknown = names.find((name) => !steps.some((step) => isMeant(step, name)));
  if (unknown !== undefined) throw new SelectionError(`there is no step "${unknown}"${hintFor(unknown, steps)}`);
  return steps.filter((step) => names.some((name) => isMeant(step, name)));
}

function hintFor(name: string, steps: readonly Step[]): string {
  const [nearest] = steps.map((step) => step.name).toSorted((a, b) => leven(name, a) - leven(name, b));
  const isNear = nearest !== undefined && leven(name, nearest) <= 3;
  return isNear ? `; did you mean "${nearest}"?` : "; --list shows them all";
}

/** Finds the steps whose inputs differ from a commit. @throws {SelectionError} if git does not know the commit */
export function stepsChanged(since: string, { chosen, left }: Selection): Selection {
  const changed = changedFiles(since);
  const changedOnes = split(
    chosen,
    (step) => changed.some((file) => isInputOf(step, file)),
    `none of its inputs changed since ${since}`,
  );
  return { chosen: changedOnes.chosen, left: [...left, ...changedOnes.left] };
}

/** Lists the changed files, committed or not, including new files. */
function changedFiles(since: string): string[] {
  try {
    const base = git("merge-base", since, "HEAD").trim();
    return [git("diff", "--name-only", base), git("ls-files", "--others", "--exclude-standard")]
      .flatMap((text) => text.split("\n"))
      .filter((path) => path !== "");
  } catch {
    throw new SelectionError(`git knows no commit "${since}" that this one comes from`);
  }
}

const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" });

function split(steps: readonly Step[], isChosen: (step: Step) => boolean, reason: string): Selection {
  return {
    chosen: steps.filter(isChosen),
    left: steps.filter((step) => !isChosen(step)).map((step) => ({ step, reason })),
  };
}
