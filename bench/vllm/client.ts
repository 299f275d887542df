import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { installFolder } from "@parley/inference/testing/vllm";
import { key, pinTo, servedName } from "./subjects.ts";

const run = promisify(execFile);

/** A load of independent requests. */
export interface Shape {
  readonly concurrency: number;
  readonly prompts: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Measurements, by vLLM's own names. */
export interface Measured {
  readonly output_throughput: number;
  readonly median_ttft_ms: number;
  readonly completed: number;
  readonly total_output_tokens: number;
}

export interface Load {
  /** Folder with the tokenizer that random prompts are made with. */
  readonly model: string;
  readonly extraBody: object;
}

/** Runs `vllm bench serve` once against a base URL. */
export async function measure(url: string, shape: Shape, { model, extraBody }: Load): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const { concurrency, prompts, inputTokens, outputTokens } = shape;
  const flags = {
    backend: "openai-chat",
    endpoint: "/v1/chat/completions",
    "base-url": url,
    model: servedName,
    tokenizer: model,
    "dataset-name": "random",
    "random-input-len": inputTokens,
    "random-output-len": outputTokens,
    "num-prompts": prompts,
    "num-warmups": concurrency,
    "max-concurrency": concurrency,
    temperature: 0,
    seed: 1,
    "extra-body": JSON.stringify(extraBody),
    "result-dir": folder,
    "result-filename": "result.json",
  };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const [program, ...rest] = [...pinTo(1), join(installFolder, "bin/vllm")];
  await run(program, [...rest, "bench", "serve", ...args, "--save-result", "--disable-tqdm"], {
    env: { ...process.env, OPENAI_API_KEY: key, OMP_NUM_THREADS: "1" },
    maxBuffer: 2 ** 26,
  });
  const result = JSON.parse(readFileSync(join(folder, "result.json"), "utf8")) as Measured; // as vLLM writes it
  rmSync(folder, { recursive: true });
  const { output_throughput, median_ttft_ms, completed, total_output_tokens } = result;
  if (completed < prompts) throw new Error(`${url} answered ${completed} of ${prompts} requests`);
  return { output_throughput, median_ttft_ms, completed, total_output_tokens };
}
