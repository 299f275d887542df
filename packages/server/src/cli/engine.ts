import { join } from "node:path";
import { EngineFiles, explainContainer, explainProcess } from "@parley/inference";
import type { Command } from "commander";
import { modelNames } from "../config/model-settings.ts";
import type { ModelName } from "../config/model-settings.ts";
import type { Config } from "../config/read-config.ts";
import { driverOf, vllmSettings } from "../engines/start-engine.ts";
import type { EngineOptions } from "../engines/start-engine.ts";
import { findServer } from "../state/server-lock.ts";
import { addSettingFlags, settingsOf } from "./settings.ts";
import { toTable } from "./table.ts";

export function addEngineCommands(program: Command): void {
  const engine = program.command("engine").description("the engines behind the models");
  addSettingFlags(
    engine.command("plan").description("print how each engine would be started, starting nothing"),
  ).action(async (_flags, command: Command) => print(await plan(settingsOf(command).config)));
  addSettingFlags(engine.command("status").description("what the running server says of its engines")).action(
    async (_flags, command: Command) => print(await status(settingsOf(command).config)),
  );
  addSettingFlags(
    engine
      .command("logs")
      .description("the last lines of an engine's own log")
      .argument("<model>", "model-1 or its id"),
  )
    .option("--lines <count>", "how many", "200")
    .action((model: string, flags: { readonly lines: string }, command: Command) => {
      const lines = filesOf(settingsOf(command).config, model).lastLines(Number(flags.lines));
      if (lines === undefined) throw new Error(`There is no log of ${model}: only vLLM on this machine writes one.`);
      print(`${lines}\n`);
    });
  addSettingFlags(
    engine
      .command("restart")
      .description("let an engine finish what it is doing and start it anew")
      .argument("<model>", "model-1 or its id"),
  ).action((model: string, _flags, command: Command) => restart(settingsOf(command).config, model));
}

const print = (text: string): void => void process.stdout.write(text);

/** What the start of one model is decided by. */
export const engineOptionsOf = (name: ModelName, config: Config, runFolder: string): EngineOptions => ({
  id: `${config.vendor}/${name}`,
  name,
  settings: config.models[name] ?? {},
  config,
  runFolder,
  report: () => undefined,
});

async function plan(config: Config): Promise<string> {
  // The folder of a run is made when it starts.
  const options = modelNames.map((name) => engineOptionsOf(name, config, "/tmp/parley-run"));
  const lines = await Promise.all(options.map(explain));
  return `${lines.join("\n")}\n`;
}

async function explain(options: EngineOptions): Promise<string> {
  const { id, config, runFolder } = options;
  const driver = driverOf(config, options.settings);
  const settings = vllmSettings(options);
  if (driver === "vllm-process")
    return `${id}: ${driver}\n  ${await explainProcess(settings, runFolder).catch(messageOf)}`;
  if (driver !== "vllm-container") return `${id}: ${driver}`;
  const image = config.vllmImage ?? "(no image)";
  return `${id}: ${driver}\n  ${await explainContainer({ ...settings, image }, runFolder).catch(messageOf)}`;
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

function restart(config: Config, model: string): void {
  const name = nameOf(config, model);
  if (!driverOf(config, config.models[name] ?? {}).startsWith("vllm-")) {
    throw new Error(`${model} is not served by vLLM on this machine: there is nothing to restart but the server.`);
  }
  if (!findServer(config.dataDir)) throw new Error(`No server uses the data folder ${config.dataDir}.`);
  filesOf(config, model).requestRestart();
  process.stderr.write(
    `${model} restarts when the requests under way have ended. Watch it with: parley engine status\n`,
  );
}

const filesOf = (config: Config, model: string): EngineFiles =>
  new EngineFiles(join(config.dataDir, "engines"), `${config.vendor}/${nameOf(config, model)}`);

function nameOf({ vendor }: Config, model: string): ModelName {
  const name = modelNames.find((one) => one === model || `${vendor}/${one}` === model);
  if (!name) throw new Error(`There is no model ${model}; there are: ${modelNames.join(", ")}.`);
  return name;
}
