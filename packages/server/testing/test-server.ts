import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ScriptStep, SupervisorReport } from "@parley/inference";
import { pino } from "pino";
import { makeConfig } from "../src/config/read-config.ts";
import type { ConfigChanges } from "../src/config/read-config.ts";
import { startServer } from "../src/server.ts";
import type { RunningServer, ServerOptions } from "../src/server.ts";
import { callsOf } from "./calls.ts";
import type { Calls } from "./calls.ts";
import type { LedgerRow } from "./ledger-row.ts";
import { readLedger } from "./read-ledger.ts";
import { testKey } from "./requests.ts";
import { dropStores, storesOf } from "./shared-stores.ts";

/** A running server, with functions for requests, its log and its ledger. Disposal stops it and removes its folder. */
export interface TestServer extends Calls, AsyncDisposable {
  readonly dataDir: string;
  readonly running: RunningServer;
  /** Every line that was logged, as text. */
  readonly logLines: readonly string[];
  /** Returns the ledger entries, sorted by start. */
  ledger(): Promise<LedgerRow[]>;
}

export interface TestOptions {
  readonly settings?: ConfigChanges | undefined;
  /** Scenarios of the scripted engine, played for the user text `script:NAME`. */
  readonly scenarios?: Readonly<Record<string, readonly ScriptStep[]>> | undefined;
  /** The mount of chat completions; undefined: the server's default. */
  readonly mount?: ServerOptions["mount"];
}

/**
 * Starts a real server on a free port, with its own data folder, and waits until its engines are ready. The engines play
 * scripts unless the settings say otherwise.
 */
export async function startTestServer({ settings = {}, scenarios = {}, mount }: TestOptions = {}): Promise<TestServer> {
  const ownFolder = mkdtempSync(join(tmpdir(), "parley-test-"));
  const script = join(ownFolder, "script.json");
  writeFileSync(script, JSON.stringify({ scenarios }));
  const logLines: string[] = [];
  const log = pino(
    { level: settings.logLevel ?? "debug", base: null },
    { write: (line: string) => void logLines.push(line) },
  );
  const given = { engine: "scripted", script, dataDir: ownFolder, port: 0, metricsPort: 0, apiKey: testKey } as const;
  const stores = "databaseUrl" in settings ? {} : storesOf(settings.dataDir ?? ownFolder);
  const config = makeConfig({ ...given, ...stores, ...settings });
  const report = (event: SupervisorReport) => void logLines.push(JSON.stringify(event));
  const running = await startServer({ config, log, report, mount });
  await Promise.all(running.models.map((model) => model.engine.whenReady()));
  return {
    ...callsOf(running),
    dataDir: config.dataDir,
    running,
    logLines,
    ledger: () => readLedger(config.dataDir),
    async [Symbol.asyncDispose]() {
      await running.close();
      dropStores(ownFolder);
      rmSync(ownFolder, { recursive: true, force: true });
    },
  };
}
