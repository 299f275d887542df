import { inspect } from "node:util";

/**
 * Ends this process when its parent dies for any reason: the parent holds the other end of standard input. An unhandled error
 * ends the process too, after it was logged.
 */
export function endWithParent(): void {
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
  process.stdin.on("error", () => process.exit(0));
  // Ctrl-C may reach every process of a terminal. It is ignored here: the parent drains first and then closes the pipe.
  process.on("SIGINT", () => undefined);
  process.on("uncaughtException", endBecauseOf);
}

/** Ends this process, although threads may still run. The whole error is logged, and its message is the last line. */
export function endBecauseOf(error: unknown): void {
  const message = error instanceof Error ? error.message : inspect(error);
  process.stderr.write(`${inspect(error)}\n${message.replaceAll("\n", " ")}\n`);
  process.exit(1);
}
