import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The server under test: its public API with one of two engines, or its admin API. */
export type TargetName = "scripted" | "embedded" | "admin";

/** Admin keys of a server under test. */
export interface AdminTarget {
  /** Keys with all scopes but one, by this scope. */
  readonly lacking: Readonly<Record<string, string>>;
  /** A key with all scopes that is bound to a group. */
  readonly owner: string;
  /** The id of that group. */
  readonly ownedGroup: string;
  /** Texts that are not accepted: a disabled admin key, and a key for chat completions. */
  readonly refused: readonly string[];
}

/** A server under test. */
export interface Target {
  readonly url: string;
  /** A key without limits of its own. Of the admin API: an admin key with all scopes. */
  readonly key: string;
  /** A key that allows one request per minute. */
  readonly limitedKey: string;
  /** A key whose budget is used up. */
  readonly spentKey: string;
  readonly models: readonly { readonly id: string; readonly pricing: Readonly<Record<string, string>> }[];
  readonly admin?: AdminTarget;
}

export interface RunningTarget extends Target, AsyncDisposable {
  readonly name: TargetName;
  /** The exit code of the server; null while it runs. */
  readonly exitCode: () => number | null;
}

/** Starts a server in a separate process, so that a crash is noticed and does not end the fuzzer. */
export async function startTarget(name: TargetName): Promise<RunningTarget> {
  const program = fileURLToPath(new URL("serve.ts", import.meta.url));
  const child = spawn(process.execPath, [program, name], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout);
  const line = await Promise.race([once(lines, "line"), exited.then(() => undefined)]);
  if (!line) throw new Error(`the ${name} server did not start`);
  const target = JSON.parse(String(line[0])) as Target; // serve.ts writes nothing else
  return {
    ...target,
    name,
    exitCode: () => child.exitCode,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exited;
    },
  };
}
