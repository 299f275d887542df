import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { patientTimings } from "../src/index.ts";
import type { SupervisorReport, Timings } from "../src/index.ts";
import { deriveModelFolder, startVllmProcess } from "../src/vllm/index.ts";
import type { VllmSidecar, VllmProcessOptions } from "../src/vllm/index.ts";
import { neutral } from "./requests.ts";

const demoModels = fileURLToPath(new URL("../../../demo-models", import.meta.url));
const hashes = JSON.parse(readFileSync(join(demoModels, "hashes.json"), "utf8")) as Record<string, { sha256: string }>; // as the export writes it

/** A demonstration model in the Hugging Face format. Its weights are derived from the GGUF file once, for all tests. */
const demoFolder = (name: string): string =>
  deriveModelFolder({
    source: join(demoModels, name),
    gguf: `${name}.bf16.gguf`,
    sha256: hashes[`${name}/model.safetensors`]?.sha256 ?? "",
    target: fileURLToPath(new URL(`../node_modules/.cache/${name}`, import.meta.url)),
  });

export const miniFolder = demoFolder("model-1-mini");
/** A model with the same tokenizer and different weights. */
export const otherFolder = demoFolder("model-1");
const program = fileURLToPath(new URL("./programs/scripted-vllm.ts", import.meta.url));

export const quickTimings: Timings = {
  ...patientTimings,
  startSilenceMs: 10_000,
  watchEveryMs: 30,
  unansweredMs: 2000,
  stopGraceMs: 1000,
  restartFirstMs: 20,
  maxRestartMs: 100,
};

export interface StartedScriptedVllm extends AsyncDisposable {
  readonly vllm: VllmSidecar;
  readonly reports: readonly SupervisorReport[];
  readonly folder: string;
}

/** Creates a folder that looks like a virtual environment with vLLM, but contains a stand-in that plays this script. */
export function writeScriptedVllm(folder: string, script: object): void {
  mkdirSync(join(folder, "bin"), { recursive: true });
  const write = (name: string, text: string): void =>
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  write("python", 'echo "0.32.0+cpu cpu"');
  const scriptFile = join(folder, "script.json");
  writeFileSync(scriptFile, JSON.stringify(script));
  write("vllm", `export SCRIPTED_VLLM='${scriptFile}'\nexec '${process.execPath}' '${program}' "$@"`);
}

export function startScriptedVllm(script: object, changes: Partial<VllmProcessOptions> = {}): StartedScriptedVllm {
  const folder = mkdtempSync(join(tmpdir(), "parley-"));
  writeScriptedVllm(join(folder, "venv"), script);
  const reports: SupervisorReport[] = [];
  const vllm = startVllmProcess({
    name: "vendor/model-1-mini",
    weights: miniFolder,
    vllm: join(folder, "venv"),
    installFolder: join(folder, "none"),
    contextLength: undefined,
    slots: 64,
    kvMemoryMb: undefined,
    cpuKvMemoryMb: 256,
    gpuMemoryShare: undefined,
    tensorParallel: undefined,
    gpus: undefined,
    cores: "0",
    extraArguments: [],
    runFolder: folder,
    stateFolder: join(folder, "state"),
    cacheSecret: Buffer.alloc(32, 1),
    sampling: neutral,
    timings: quickTimings,
    report: (event) => void reports.push(event),
    ...changes,
  });
  return {
    vllm,
    reports,
    folder,
    [Symbol.asyncDispose]: async () => {
      await vllm.engine.close(0);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
