import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { hangs } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";
import type { Sdk } from "./sdk.ts";

/** An SDK in a process of its own, which takes a job a line and answers each with a line. */
export function childSdk(
  name: string,
  version: string,
  command: string,
  args: readonly string[],
  patienceMs = 24_000,
): Sdk {
  let child: ChildProcessWithoutNullStreams | undefined;
  let lines: AsyncIterator<string> | undefined;
  const start = (): AsyncIterator<string> => {
    child = spawn(command, [...args], { env: { ...process.env, OPENAI_API_KEY: "" } });
    let errors = "";
    child.stderr.on("data", (data: Buffer) => {
      errors = (errors + data.toString()).slice(-2000);
    });
    child.on("exit", (code) => {
      if (code) process.stderr.write(`${name} ended with ${code}: ${errors}\n`);
    });
    return createInterface(child.stdout)[Symbol.asyncIterator]();
  };
  const stop = (): void => {
    child?.kill("SIGKILL");
    lines = undefined;
  };
  return {
    name,
    version,
    async ready() {
      if (lines) return;
      lines = start();
      // Its first line says that it has loaded the SDK, which takes some of them many seconds.
      await lines.next();
    },
    async make(job) {
      if (!lines) throw new Error(`${name} was not started`);
      child?.stdin.write(`${JSON.stringify(job)}\n`);
      // A process that hangs cannot take the next job.
      const timer = setTimeout(stop, patienceMs);
      const { value, done } = await lines.next();
      clearTimeout(timer);
      if (done === true) return { throws: hangs };
      return (JSON.parse(value) as Outcome | null) ?? undefined; // of the programs in this folder
    },
    async [Symbol.asyncDispose]() {
      stop();
    },
  };
}
