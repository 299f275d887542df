import { fileURLToPath } from "node:url";
import { ChildEngine } from "../child/child-engine.ts";
import type { ChildEngineOptions } from "../child/child-engine.ts";
import { savingMemory } from "../child/saving-memory.ts";
import type { EngineMetadata, Sampling } from "../engine.ts";
import { fingerprint } from "../fingerprint.ts";

export interface ScriptedOptions extends Omit<ChildEngineOptions, "command"> {
  /** The path of a JSON file that contains a `Script`; undefined: every request gets the built-in reply. */
  readonly scriptFile: string | undefined;
  readonly sampling: Omit<Sampling, "logit_bias">;
  /** The prompt line that shows the model a schema; undefined: schemas are not shown. */
  readonly schemaPrompt?: string | undefined;
  readonly metadata?: Partial<EngineMetadata>;
}

/** A stub engine that plays a script, for tests, fuzzing and partner sandboxes. It produces faults on demand. */
export function startScriptedEngine(options: ScriptedOptions): ChildEngine {
  const program = fileURLToPath(new URL("./child/main.ts", import.meta.url));
  const metadata: EngineMetadata = {
    contextLength: 32_768,
    quantization: "bf16",
    systemFingerprint: fingerprint(["scripted", options.name]),
    slots: 64,
    spareSlots: 1,
    canReason: true,
    canCallTools: true,
    samplingDefaults: options.sampling,
    schemaPrompt: options.schemaPrompt,
    description: "plays a script, computes nothing",
    ...options.metadata,
  };
  const script = options.scriptFile === undefined ? [] : [options.scriptFile];
  const engine = new ChildEngine({
    ...options,
    command: (socketPath) => ({
      command: process.execPath,
      args: [...savingMemory, program, socketPath, JSON.stringify(metadata), ...script],
    }),
  });
  engine.start();
  return engine;
}
