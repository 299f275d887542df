import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createKey, createLog, makeConfig, startServer } from "@parley/server";
import type { Config, RunningServer } from "@parley/server";
import type { EngineName, Target } from "./target.ts";

// The process of one server under test. Its keys end with it, its limits are never reached, and its deadline is short, so that
// a stalled engine reaches it soon. If `FUZZ_TARGET_PORT` is set, it serves its description on that port and runs until SIGTERM.
// Otherwise it prints the description as one line of JSON and runs until its standard input ends.

const [engine = "scripted"] = process.argv.slice(2);
const { FUZZ_HOST: host = "127.0.0.1", FUZZ_PORT: port = "0", FUZZ_TARGET_PORT: targetPort } = process.env;
const dataDir = mkdtempSync(join(tmpdir(), "parley-fuzz-"));
const server = await startServer({
  config: configFor(engine as EngineName, dataDir), // our launcher passes one of these names
  log: createLog("silent", "json").log,
  report: () => undefined,
});
await Promise.all(server.models.map((model) => model.engine.whenReady()));
const description = JSON.stringify(await describe(server));
if (targetPort === undefined) {
  process.stdout.write(`${description}\n`);
  process.stdin.resume().once("end", () => void stop());
} else {
  const described = createServer((_request, response) => response.end(description)).listen(Number(targetPort), host);
  process.once("SIGTERM", () => {
    described.close();
    void stop();
  });
}
process.on("SIGINT", () => undefined); // the launcher handles Ctrl-C

function configFor(engine: EngineName, dataDir: string): Config {
  return makeConfig({
    engine,
    dataDir,
    script: fileURLToPath(new URL("script.json", import.meta.url)),
    host,
    port: Number(port),
    metricsPort: "off",
    requestsPerMinute: 1_000_000_000,
    tokensPerMinute: 1_000_000_000_000,
    totalRequestsPerMinute: 1_000_000_000,
    totalTokensPerMinute: 1_000_000_000_000,
    requestTimeoutMs: engine === "scripted" ? 5000 : 60_000,
  });
}

async function describe({ url, keys }: RunningServer): Promise<Target> {
  const makeKey = async (rules: { requestsPerMinute?: number; budgetUsd?: string }): Promise<string> =>
    (await createKey(keys, { name: "fuzz", ...rules }, Date.now())).token;
  const key = await makeKey({});
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await response.json()) as { data: Target["models"] }; // the contract's listing
  return {
    url,
    key,
    limitedKey: await makeKey({ requestsPerMinute: 1 }),
    spentKey: await makeKey({ budgetUsd: "0" }),
    models: data.map(({ id, pricing }) => ({ id, pricing })),
  };
}

async function stop(): Promise<void> {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
}
