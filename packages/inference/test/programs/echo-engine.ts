import { fileURLToPath } from "node:url";
import { ChildEngine } from "../../src/child/child-engine.ts";
import type { ChildEngineOptions } from "../../src/child/child-engine.ts";

/** Starts an engine that repeats the caller's text. It is the smallest driver that keeps the engine contract. */
export function startEchoEngine(options: Omit<ChildEngineOptions, "command">): ChildEngine {
  const program = fileURLToPath(new URL("./echo-child.ts", import.meta.url));
  const engine = new ChildEngine({
    ...options,
    command: (socketPath) => ({ command: process.execPath, args: [program, socketPath] }),
  });
  engine.start();
  return engine;
}
