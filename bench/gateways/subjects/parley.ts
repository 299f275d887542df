import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { bundleServer, nodeFlags } from "@parley/server/testing";
import { freePort } from "./free-port.ts";
import type { SimulatedEngine } from "../../native/start-engine.ts";
import { startProgram } from "./start-program.ts";
import { modelFolder, modelName } from "./subject.ts";
import type { Subject, SubjectKind } from "./subject.ts";

const program = join(import.meta.dirname, "../../../packages/server/src/cli/main.mjs");

/** Parley as an operator starts it: a stored key, ledger, metrics and log, with limits that the load does not reach. */
const settings = {
  PARLEY_MAX_SOCKETS: "20000",
  PARLEY_SOCKETS_PER_ADDRESS: "20000",
  PARLEY_REQUESTS_PER_MINUTE: "100000000",
  PARLEY_TOTAL_REQUESTS_PER_MINUTE: "100000000",
  PARLEY_TOKENS_PER_MINUTE: "100000000000",
  PARLEY_TOTAL_TOKENS_PER_MINUTE: "100000000000",
  PARLEY_QUEUE_LENGTH: "10000",
  // The row of silent streams is silent for longer than any real engine.
  PARLEY_ENGINE_STALL_SECONDS: "600",
  PARLEY_METRICS_PORT: "0",
  PARLEY_LOG_FORMAT: "json",
};

interface ParleyOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

export const startParley =
  (protocol: "chat" | "completions", { env: more = {}, flags = [] }: ParleyOptions = {}): SubjectKind["start"] =>
  async (engine, folder) => {
    await bundleServer();
    const remote = { urls: [engine.url], tokenizer: modelFolder, protocol };
    const model = { engine: "remote", slots: 20_000, default_reasoning_effort: "none", remote };
    writeFileSync(join(folder, "parley.yaml"), JSON.stringify({ models: { "model-1-mini": model } }));
    const env = { ...settings, ...more, PARLEY_DATA_DIR: join(folder, "data"), PORT: String(await freePort()) };
    const key = createKey(folder, env);
    const subject = await startProgram({
      command: process.execPath,
      args: [...nodeFlags, program, "start", ...flags],
      cwd: folder,
      env,
      port: Number(env.PORT),
      healthPath: "/health",
      headers: { authorization: `Bearer ${key}` },
      folder,
    });
    await untilReady(subject, engine);
    return subject;
  };

const parley = (protocol: "chat" | "completions", title: string): SubjectKind => ({
  name: protocol === "chat" ? "parley-chat" : "parley-ids",
  title,
  missing: () => undefined,
  start: startParley(protocol),
});

/** The same with a trace of each request. */
const traced: SubjectKind = {
  name: "parley-traced",
  title: "Parley, token ids, traced",
  isOnRequest: true,
  missing: () => undefined,
  start: async (engine, folder) => {
    // The collector takes everything. It runs in the process of the bench, whose time is not measured.
    const collector = createServer((request, response) => void request.resume().on("end", () => response.end("{}")));
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
    const { port } = collector.address() as AddressInfo; // an address, because it listens on a port
    const subject = await startParley("completions", { env: { PARLEY_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } })(
      engine,
      folder,
    );
    return {
      ...subject,
      [Symbol.asyncDispose]: async () => {
        await subject[Symbol.asyncDispose]();
        collector.close();
      },
    };
  },
};

const workers: SubjectKind = {
  name: "parley-workers",
  title: "Parley, --workers 2",
  isOnRequest: true,
  missing: () => undefined,
  start: startParley("completions", { flags: ["--workers", "2"] }),
};

function createKey(cwd: string, env: Readonly<Record<string, string>>): string {
  const args = [program, "keys", "create", "--name", "bench", "--json"];
  const { PATH = "", HOME = "" } = process.env;
  const said = execFileSync(process.execPath, args, { cwd, env: { PATH, HOME, ...env }, encoding: "utf8" });
  const { key_file } = JSON.parse(said) as { readonly key_file: string }; // what `--json` says
  return readFileSync(resolve(cwd, key_file), "utf8").trim();
}

async function untilReady(subject: Subject, engine: SimulatedEngine): Promise<void> {
  const url = `http://127.0.0.1:${subject.port}/ready?model=${encodeURIComponent(modelName)}`;
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await fetch(url)).ok) return;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  await subject[Symbol.asyncDispose]();
  throw new Error(`Parley did not find its engine at ${engine.url}`);
}

export const parleySubjects: readonly SubjectKind[] = [
  parley("chat", "Parley, chat route"),
  parley("completions", "Parley, token ids"),
  traced,
  workers,
];
