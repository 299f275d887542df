import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "@parley/common/free-port";
import type { Command } from "../command.ts";
import type { Service } from "../services.ts";
import { buildImage, docker } from "./docker.ts";
import { environmentFor } from "./environment.ts";
import { startProcess } from "./processes.ts";

export interface RunningService {
  /** Environment variables with which the step finds the service. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts a service on loopback. @throws when it ends before all of its ports accept connections */
export async function startService(service: Service, logFile: string, stop: AbortSignal): Promise<RunningService> {
  const names = Object.keys(service.ports);
  const ports = new Map(await Promise.all(names.map(async (name) => [name, await freePort()] as const)));
  const portOf = (name: string): number => ports.get(name) ?? 0; // a service names its own ports only
  const containerName = `parley-ci-${randomUUID()}`;
  const command = service.command ?? (await dockerRun(service, containerName, portOf, logFile, stop));
  const folder = mkdtempSync(join(tmpdir(), "parley-service-"));
  const own = service.environment({ host: "127.0.0.1", folder, portOf });
  const running = await startProcess(command, { ...environmentFor(service.image, service.secrets), ...own }, logFile);
  const end = async (): Promise<void> => {
    await running.stop();
    // Docker's client may have ended before it could pass the signal on.
    if (!service.command) await docker(["rm", "--force", containerName], logFile).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  };
  const ended = running.exitCode.then(() => AbortSignal.abort(new Error("a service ended before its ports were open")));
  try {
    const isOpen = Promise.all([...ports.values()].map((port) => untilOpen(port, stop))).then(() => stop);
    (await Promise.race([isOpen, ended])).throwIfAborted();
  } catch (error) {
    await end();
    throw error;
  }
  return {
    environment: Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${portOf(name)}`])),
    stop: end,
  };
}

/** Waits until the port accepts connections, or until the signal. */
async function untilOpen(port: number, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await wait(100);
  }
}

/** @returns the command that runs an image until it is signalled */
async function dockerRun(
  { image, ports, secrets }: Service,
  containerName: string,
  portOf: (name: string) => number,
  logFile: string,
  stop: AbortSignal,
): Promise<Command> {
  const tag = await buildImage(image, logFile, stop);
  const published = Object.entries(ports).flatMap(([name, port]) => ["--publish", `127.0.0.1:${portOf(name)}:${port}`]);
  // Secrets are passed by name, because every user can read a command line.
  return [
    "docker",
    "run",
    "--rm",
    "--name",
    containerName,
    ...published,
    ...secrets.flatMap((name) => ["--env", name]),
    tag,
  ];
}
