import { once } from "node:events";
import type { ChildProcess } from "node:child_process";

/**
 * Waits for the end of a program, as in `await exitCodeOf(spawn("git", ["gc"]))`. Resolves with its exit code, or with 1 if a
 * signal has ended it.
 * @throws the error of the operating system if the program could not be started
 */
export async function exitCodeOf(child: ChildProcess): Promise<number> {
  const [code] = (await once(child, "exit")) as [number | null]; // Node's declaration of the event
  return code ?? 1;
}
