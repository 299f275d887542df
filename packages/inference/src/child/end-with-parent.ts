import { inspect } from "node:util";

/**
 * Ends this process with its parent, however that died: the parent holds the other end of standard input. An error that
 * nobody handles ends it as well, and is written down first.
 */
export function endWithParent(): void {
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
  process.stdin.on("error", () => process.exit(0));
  // An interrupt may reach every process of a terminal; the parent drains first and then closes the pipe.
  process.on("SIGINT", () => undefined);
  process.on("uncaughtException", endBecauseOf);
}

/** Ends this process, although threads may still run. The whole error is logged, and its message is the last line. */
export function endBecauseOf(error: unknown): void {
  const message = error instanceof Error ? error.message : inspect(error);
  process.stderr.write(`${inspect(error)}\n${message.replaceAll("\n", " ")}\n`);
  process.exit(1);
}
