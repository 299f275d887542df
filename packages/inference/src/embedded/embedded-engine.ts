import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { ChildEngine } from "../child/child-engine.ts";
import type { ChildEngineOptions } from "../child/child-engine.ts";
import { savingMemory } from "../child/saving-memory.ts";
import type { EmbeddedChildSettings } from "./settings.ts";

/** The scripted engine, too, is in such a process. */
export { ConnectedEngine } from "../child/child-engine.ts";
export type { ProcessState } from "../child/child-engine.ts";

export type EmbeddedOptions = Omit<ChildEngineOptions, "command"> & Omit<EmbeddedChildSettings, "socketPath">;

/** Runs llama.cpp in a child process: a native crash stops one model, never the server. */
export function startEmbeddedEngine(options: EmbeddedOptions): ChildEngine {
  const { model, sampling, schemaPrompt, weightsId } = options;
  const program = fileURLToPath(new URL("./child/main.ts", import.meta.url));
  const engine = new ChildEngine({
    ...options,
    command: (socketPath) => {
      const settings: EmbeddedChildSettings = { socketPath, model, sampling, schemaPrompt, weightsId };
      const encoded = Buffer.from(JSON.stringify(settings)).toString("base64");
      return { command: process.execPath, args: [...savingMemory, program, encoded] };
    },
  });
  engine.start();
  return engine;
}
