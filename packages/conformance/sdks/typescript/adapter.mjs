/**
 * Reads a task per line, carries it out, and prints its answer as a line.
 * @param {(task: object) => Promise<object>} carryOut
 */
export async function serve(carryOut) {
  process.stdin.setEncoding("utf8");
  let rest = "";
  for await (const text of process.stdin) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const task = JSON.parse(line);
      const answer = await carryOut(task);
      process.stdout.write(`${JSON.stringify({ task: task.task, ...answer })}\n`);
    }
  }
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes the call once, or twice with a pause, as the task says. */
export async function repeat(task, call) {
  const answer = await call();
  if (task.secondCallAfterMs === undefined) return answer;
  await sleep(task.secondCallAfterMs);
  return call();
}

/** An unhandled rejection is a fault of the SDK, but it must not hide the answer. */
process.on("unhandledRejection", (reason) => process.stderr.write(`unhandled rejection: ${reason}\n`));
