/** Ends this process with its parent, however that died: the parent holds the other end of standard input. */
export function endWithParent(): void {
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
  process.stdin.on("error", () => process.exit(0));
  // An interrupt may reach every process of a terminal; the parent drains first and then closes the pipe.
  process.on("SIGINT", () => undefined);
}
