import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEmbeddedEngine } from "../src/embedded/embedded-engine.ts";
import { defaultTimings } from "../src/index.ts";
import { startScriptedEngine } from "../src/scripted/scripted-engine.ts";
import type { ChildEngine, EngineMetadata, Script, SupervisorReport, Timings } from "../src/index.ts";
import { readModelFile } from "../src/embedded/child/open-llama.ts";
import { readVocabulary } from "../src/embedded/child/vocabulary.ts";
import type { Vocabulary } from "../src/prompt/vocabulary.ts";
import { planSlots } from "../src/embedded/plan-slots.ts";
import type { ModelSettings } from "../src/embedded/plan-slots.ts";
import { neutral } from "../testing/requests.ts";
import { startEchoEngine } from "./programs/echo-engine.ts";

/** The smaller demonstration model, with real weights. */
export const miniModelFile = fileURLToPath(
  new URL("../../../demo-models/model-1-mini/model-1-mini.bf16.gguf", import.meta.url),
);

/** An engine for a test. `await using` stops it and deletes its folder. */
export interface StartedEngine extends AsyncDisposable {
  readonly engine: ChildEngine;
  /** The reports to the operator so far. */
  readonly reports: readonly SupervisorReport[];
  readonly runFolder: string;
}

export interface EmbeddedChoices {
  readonly file?: string;
  readonly sha256?: string;
  readonly contextLength?: number;
  readonly slots?: number;
  readonly idleMs?: number;
  readonly promptThreads?: number;
  readonly processors?: ModelSettings["processors"];
  readonly timings?: Partial<Timings>;
}

/** More memory than 8 slots need. A plan has at most 8 slots. */
const plentyOfBytes = 2 ** 33;

export async function startMini(choices: EmbeddedChoices = {}): Promise<StartedEngine> {
  const { file = miniModelFile, slots, contextLength, sha256, idleMs, processors, promptThreads = 1 } = choices;
  const settings = {
    file,
    sha256,
    contextLength,
    kvMemoryBytes: plentyOfBytes,
    threads: 1,
    promptThreads,
    ...(idleMs !== undefined && { idleMs }),
    ...(processors && { processors }),
  };
  const model = slots === undefined ? settings : { ...settings, kvMemoryBytes: await bytesFor(slots, settings) };
  return begin({ timings: choices.timings }, (common) =>
    startEmbeddedEngine({ ...common, model, sampling: neutral, weightsId: "test" }),
  );
}

/** An engine with more than one slot has a spare slot in addition. */
async function bytesFor(slots: number, settings: ModelSettings): Promise<number> {
  const { contextLength, kvBytesPerToken } = planSlots(await readModelFile(settings.file), settings);
  return (slots > 1 ? slots + 1 : slots) * contextLength * kvBytesPerToken;
}

export const readMiniVocabulary = async (): Promise<Vocabulary> => readVocabulary(await readModelFile(miniModelFile));

/** Returns a logit bias with the same value for the mini model's tokens of these spellings. */
export function biasOn(vocabulary: Vocabulary, spellings: readonly string[], bias: number): Record<string, number> {
  const ids = spellings.flatMap((spelling) => vocabulary.specialTokenId(spelling) ?? []);
  return Object.fromEntries(ids.map((id) => [id, bias]));
}

/** Returns a logit bias with which the mini model never ends its answer. */
export const neverEnding = async (): Promise<Record<string, number>> =>
  biasOn(await readMiniVocabulary(), ["<|im_end|>", "<|endoftext|>"], -100);

export function startScripted(
  script?: Script["scenarios"],
  metadata?: Partial<EngineMetadata>,
  timings?: Partial<Timings>,
  folder?: string,
): StartedEngine {
  return begin({ timings, folder }, (common) => {
    const scriptFile = script && join(common.runFolder, "script.json");
    if (scriptFile) writeFileSync(scriptFile, JSON.stringify({ scenarios: script } satisfies Script));
    return startScriptedEngine({ ...common, scriptFile, sampling: neutral, ...(metadata && { metadata }) });
  });
}

export const startEcho = (): StartedEngine => begin({ timings: undefined }, startEchoEngine);

interface Common {
  readonly name: string;
  readonly runFolder: string;
  readonly timings: Timings;
  readonly report: (event: SupervisorReport) => void;
}

interface Frame {
  readonly timings: Partial<Timings> | undefined;
  readonly folder?: string | undefined;
}

function begin({ timings, folder }: Frame, start: (common: Common) => ChildEngine): StartedEngine {
  const runFolder = folder ?? mkdtempSync(join(tmpdir(), "parley-"));
  const reports: SupervisorReport[] = [];
  const report = (event: SupervisorReport): void => void reports.push(event);
  const engine = start({ name: "vendor/model", runFolder, timings: { ...defaultTimings, ...timings }, report });
  return {
    engine,
    reports,
    runFolder,
    [Symbol.asyncDispose]: async () => {
      await engine.close(0);
      rmSync(runFolder, { recursive: true, force: true });
    },
  };
}
