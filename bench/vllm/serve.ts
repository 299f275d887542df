import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { forward, installFolder, miniFolder, startVllm } from "../packages/inference/test/vllm/start-vllm.ts";
import { startTestServer } from "../packages/server/test/harness.ts";

/**
 * Tokens per second and time to first token of chat completions, through Parley ÷ straight to the engine, measured by
 * vLLM's own load generator in turns in one run. Both go to the same engine over the same forwarded socket.
 */

const rounds = Number(process.env["ROUNDS"] ?? 3);
const prompts = Number(process.env["PROMPTS"] ?? 60);
const key = "bench-key-0123456789";
const model = "vendor/model-1-mini";
const run = promisify(execFile);

interface Measured {
  readonly output_throughput: number;
  readonly median_ttft_ms: number;
  readonly completed: number;
}

async function measure(baseUrl: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const load = ["--dataset-name", "random", "--random-input-len", "60", "--random-output-len", "100"];
  const args = [
    "--backend",
    "openai-chat",
    "--endpoint",
    "/v1/chat/completions",
    "--base-url",
    baseUrl,
    "--model",
    model,
  ];
  const pace = ["--num-prompts", String(prompts), "--max-concurrency", "4", "--temperature", "0", "--seed", "1"];
  const save = ["--save-result", "--result-dir", folder, "--result-filename", "result.json", "--disable-tqdm"];
  await run(
    join(installFolder, "bin/vllm"),
    ["bench", "serve", ...args, "--tokenizer", miniFolder, ...load, ...pace, ...save],
    { env: { ...process.env, OPENAI_API_KEY: key, OMP_NUM_THREADS: "1" }, maxBuffer: 2 ** 26 },
  );
  const result = JSON.parse(readFileSync(join(folder, "result.json"), "utf8")) as Measured; // as vLLM writes it
  rmSync(folder, { recursive: true });
  return result;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

await using engine = startVllm();
await engine.vllm.engine.whenReady();
const { url, server: relay } = await forward(engine.vllm.socketPath);
const remote = {
  engine: "remote",
  remote: { urls: [url], tokenizer: dirname(join(miniFolder, "tokenizer.json")) },
} as const;
await using parley = await startTestServer({
  settings: { apiKey: key, logLevel: "silent", models: { "model-1-mini": remote } },
});
const rows = [];
for (let round = 0; round < rounds; round += 1) {
  const direct = await measure(url);
  const through = await measure(parley.origin);
  rows.push({
    round,
    direct_tokens_per_s: Math.round(direct.output_throughput),
    through_tokens_per_s: Math.round(through.output_throughput),
    ratio: through.output_throughput / direct.output_throughput,
    direct_ttft_ms: direct.median_ttft_ms,
    through_ttft_ms: through.median_ttft_ms,
    failed: 2 * prompts - direct.completed - through.completed,
  });
}
relay.close();
console.table(rows);
const added = median(rows.map((row) => row.through_ttft_ms - row.direct_ttft_ms));
console.log(
  `throughput ${median(rows.map(({ ratio }) => ratio)).toFixed(3)}, time to first token ${added.toFixed(1)} ms more (medians)`,
);
