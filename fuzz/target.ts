import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export type EngineName = "scripted" | "embedded";

/** A server under test. */
export interface Target {
  readonly url: string;
  /** A key without limits of its own. */
  readonly key: string;
  /** A key that allows one request per minute. */
  readonly limitedKey: string;
  /** A key whose budget is used up. */
  readonly spentKey: string;
  readonly models: readonly { readonly id: string; readonly pricing: Readonly<Record<string, string>> }[];
}

export interface RunningTarget extends Target, AsyncDisposable {
  readonly engine: EngineName;
  /** The exit code of the server; null while it runs. */
  readonly exitCode: () => number | null;
}

/** Starts a server in a separate process, so that a crash is noticed and does not end the fuzzer. */
export async function startTarget(engine: EngineName): Promise<RunningTarget> {
  const program = fileURLToPath(new URL("serve.ts", import.meta.url));
  const child = spawn(process.execPath, [program, engine], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout);
  const line = await Promise.race([once(lines, "line"), exited.then(() => undefined)]);
  if (!line) throw new Error(`the ${engine} server did not start`);
  const target = JSON.parse(String(line[0])) as Target; // serve.ts writes nothing else
  return {
    ...target,
    engine,
    exitCode: () => child.exitCode,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exited;
    },
  };
}
