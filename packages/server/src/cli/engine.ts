import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { settlesWithin } from "@parley/common/settles-within";
import { examineFront } from "@parley/inference/examine-front";
import { fronts } from "@parley/inference/fronts";
import type { Finding } from "@parley/inference";
import { EngineFiles, explainContainer, explainProcess } from "@parley/inference/vllm";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { findModel } from "../config/find-model.ts";
import type { Config } from "../config/read-config.ts";
import type { ModelConfig } from "../config/read-models.ts";
import type { EngineOptions } from "../models/engine-options.ts";
import { startEngine } from "../models/start-engine.ts";
import { vllmSettings } from "../models/start-vllm.ts";
import { findServer } from "../state/server-lock.ts";
import { addSettingFlags, addressFlags, modelFlags, settingsOf } from "./settings.ts";
import { toJson, toTable } from "./table.ts";

export function addEngineCommands(program: Command): void {
  const engine = program.command("engine").description("the engines behind the models");
  addSettingFlags(
    engine.command("plan").description("print how each engine would be started, starting nothing"),
  ).action(async (_flags, command: Command) => print(await plan(settingsOf(command).config)));
  addressFlags
    .addTo(engine.command("status").description("print the state of each engine of the running server"))
    .action(async (_flags, command: Command) => print(await status(addressFlags.configOf(command))));
  modelFlags
    .addTo(
      engine
        .command("logs")
        .description("print the last lines of an engine's log")
        .argument("<model>", "its name in parley.yaml, or any name that callers may use"),
    )
    .option("--lines <count>", "number of lines", "200")
    .action((model: string, flags: { readonly lines: string }, command: Command) => {
      const lines = filesOf(modelFlags.configOf(command), model).lastLines(Number(flags.lines));
      if (lines === undefined) throw new Error(`There is no log of ${model}: only vLLM on this machine writes one.`);
      print(`${lines}\n`);
    });
  addSettingFlags(
    engine
      .command("doctor")
      .description("examine the service between Parley and several engines, by what the engines count")
      .argument("<model>", "its name in parley.yaml, or any name that callers may use")
      .requiredOption(
        "--front",
        "send 60 prompts of up to 1000 tokens; say if conversations stay on their engine, and if hang-ups reach it",
      )
      .option(
        "--engines <urls>",
        "base URLs of all vLLM behind it, separated by commas, to read their counters",
        readUrls,
        [],
      )
      .option("--json", "as JSON"),
  ).action(async (model: string, { engines, json }: FrontFlags, command: Command) => {
    const findings = await examineFrontOf(settingsOf(command).config, model, engines);
    const rows = findings.map(({ topic, seen, problem }) => [topic, seen, problem === "" ? "none" : problem]);
    print(json === true ? toJson(findings) : toTable(["what", "seen", "problem"], rows));
    if (findings.some(({ problem }) => problem !== "")) process.exitCode = 1;
  });
  addSettingFlags(
    engine
      .command("restart")
      .description("let an engine finish its running requests, then restart it")
      .argument("<model>", "its name in parley.yaml, or any name that callers may use"),
  ).action((model: string, _flags, command: Command) => restart(settingsOf(command).config, model));
}

interface FrontFlags {
  readonly engines: readonly string[];
  readonly json?: true;
}

/** @throws {InvalidArgumentError} */
const readUrls = (text: string): string[] =>
  text.split(",").map((part) => {
    const url = part.trim();
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new InvalidArgumentError(`"${url}" is not an http or https URL.`);
    return url;
  });

const print = (text: string): void => void process.stdout.write(text);

/** Returns the options of every engine, to examine them without a start. Run folder and secret are placeholders. */
export const engineOptionsOf = (config: Config): EngineOptions[] =>
  config.models.map((model) => ({
    model,
    config,
    runFolder: "/tmp/parley-run",
    cacheSecret: randomBytes(32),
    report: () => undefined,
    countAttempt: () => undefined,
  }));

/** The times for the model to become ready and for each request, in milliseconds. */
const readyPatienceMs = 60_000;
const requestPatienceMs = 300_000;

/** @throws if the model is not remote, or its upstream does not answer */
async function examineFrontOf(config: Config, name: string, engines: readonly string[]): Promise<Finding[]> {
  const model = modelNamed(config, name);
  const { engineConfig } = model;
  const options = engineOptionsOf(config).find((one) => one.model === model);
  if (engineConfig.driver !== "remote" || !options) throw new Error(`${name} is not served by a remote engine.`);
  const engine = await startEngine(options);
  try {
    await settlesWithin(engine.whenReady(), readyPatienceMs);
    if (engine.state !== "ready") return [notReady(model.id, engine.stateReason)];
    const { front = "generic", protocol = "completions" } = engineConfig.given;
    const { advice } = fronts[front];
    return await examineFront(model.id, engine, { advice, patienceMs: requestPatienceMs, protocol, engines });
  } finally {
    await engine.close(0);
  }
}

const notReady = (topic: string, why: string): Finding => ({ topic, seen: "-", problem: `It is not ready: ${why}.` });

async function plan(config: Config): Promise<string> {
  const lines = await Promise.all(engineOptionsOf(config).map(describeEngine));
  return `${lines.join("\n")}\n`;
}

async function describeEngine(options: EngineOptions): Promise<string> {
  const { id, engineConfig } = options.model;
  const { driver } = engineConfig;
  if (driver !== "vllm-process" && driver !== "vllm-container") return `${id}: ${driver}`;
  const settings = vllmSettings(options, engineConfig);
  const { runFolder } = options;
  const explained =
    driver === "vllm-process"
      ? explainProcess(settings, runFolder)
      : explainContainer({ ...settings, image: engineConfig.image }, runFolder);
  return `${id}: ${driver}\n  ${await explained.catch(messageOf)}`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

interface Readiness {
  readonly status: string;
  readonly models: Readonly<Record<string, string>>;
}

async function status({ host, port }: Config): Promise<string> {
  const url = `http://${host}:${port}/ready`;
  const answer = await fetch(url).catch(() => undefined);
  if (!answer) throw new Error(`No server answers at ${url}.`);
  const { status: overall, models } = (await answer.json()) as Readiness; // written by our own server
  return toTable(["model", "state"], [...Object.entries(models), ["(the service)", overall]]);
}

function restart(config: Config, name: string): void {
  const { engineConfig } = modelNamed(config, name);
  if (!engineConfig.driver.startsWith("vllm-")) {
    throw new Error(`${name} is not served by vLLM on this machine: there is nothing to restart but the server.`);
  }
  if (!findServer(config.dataDir)) throw new Error(`No server uses the data folder ${config.dataDir}.`);
  filesOf(config, name).requestRestart();
  process.stderr.write(`${name} restarts when its running requests have ended. Watch it with: parley engine status\n`);
}

const filesOf = (config: Config, name: string): EngineFiles =>
  new EngineFiles(join(config.dataDir, "engines"), modelNamed(config, name).id);

/** Finds a model by its name in the file, or by a name that callers use. */
function modelNamed({ models }: Config, name: string): ModelConfig {
  const model = models.find((one) => one.name === name) ?? findModel(models, name);
  if (!model) throw new Error(`There is no model ${name}; there are: ${models.map((one) => one.name).join(", ")}.`);
  return model;
}
