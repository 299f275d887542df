import { closeSync, openSync, readFileSync } from "node:fs";
import { isShortage } from "@parley/inference";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/read-config.ts";
import { placesForProbes } from "./socket-places.ts";
import { maxMetricsSockets } from "./listener.ts";
import type { Log } from "../observe/log.ts";

/** The use of a server's file descriptors. */
export interface DescriptorPlan {
  /** Number of descriptors that the system lets this process open; infinite if there is no limit. */
  readonly limit: number;
  /** Number of descriptors that are not available to connections of callers. */
  readonly keptBack: number;
  /** Maximum number of connections: `maxSockets` of the configuration, or fewer if the limit is too low. */
  readonly maxSockets: number;
  /** The lowest limit that allows all configured connections. */
  readonly wanted: number;
}

/** Descriptors for databases, log, pages that are being read, threads, and a process that is starting. */
const ownDescriptors = 64;
/** Descriptors for the pipes, probes and file watch of one engine. */
const engineDescriptors = 16;
/** A request may need a second connection, to its engine. */
const perSocket = 2;
/** With fewer connections, the server does not start. */
const minSockets = 16;

/** @throws {ConfigError} where the limit leaves hardly a connection */
export function planDescriptors(config: Config, limit = readLimit()): DescriptorPlan {
  const keptBack = keptBackFor(config);
  const maxSockets = Math.min(config.maxSockets, Math.floor((limit - keptBack) / perSocket));
  const wanted = keptBack + perSocket * config.maxSockets;
  if (maxSockets < Math.min(minSockets, config.maxSockets)) {
    const needed = keptBack + perSocket * Math.min(minSockets, config.maxSockets);
    throw new ConfigError([
      `This process may have ${limit} files open, and needs at least ${needed}, better ${wanted}: ${remedyFor(wanted, maxSockets)}`,
    ]);
  }
  return { limit, keptBack, maxSockets, wanted };
}

/** In one sentence or two: how many connections there can be, and how to get more if that is fewer than was configured. */
export function describePlan(config: Config, { limit, keptBack, maxSockets, wanted }: DescriptorPlan): string {
  if (maxSockets === config.maxSockets) return `${limit} are enough for ${maxSockets} connections`;
  return (
    `${limit} allow ${maxSockets} connections, fewer than PARLEY_MAX_SOCKETS=${config.maxSockets}: ${keptBack} are kept back for ` +
    `engines, ledger, metrics and probes, and each connection may need another one to its engine. To have all connections, ${remedyFor(wanted, maxSockets)}`
  );
}

/** @param maxSockets connections that the limit allows; no setting helps where it is below 1 */
function remedyFor(wanted: number, maxSockets: number): string {
  const raise = `raise the limit to ${wanted}: LimitNOFILE=${wanted} in a systemd unit, --ulimit nofile=${wanted} for a container, or "ulimit -n ${wanted}" in a shell.`;
  return maxSockets < 1 ? raise : `${raise} Or set PARLEY_MAX_SOCKETS to ${maxSockets} or less.`;
}

function keptBackFor({ models, metricsPort }: Config): number {
  const metrics = metricsPort === "off" ? 0 : maxMetricsSockets + placesForProbes;
  return ownDescriptors + placesForProbes + metrics + engineDescriptors * models.length;
}

/** Returns the soft limit. Node has raised it to the hard limit at its start. */
function readLimit(): number {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readLimits()) ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Returns the limits as text. On Linux they are in a file, which is ten times faster to read than Node's report. */
function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    // The type of a report is `object`; Node documents this member.
    const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
    return `Max open files ${String(userLimits?.open_files?.soft)}`;
  }
}

/** Lowers `maxSockets` to the number of available descriptors. @throws {ConfigError} if there are too few */
export function fitDescriptors(config: Config, log: Log): Config {
  const plan = planDescriptors(config);
  const { limit, keptBack, maxSockets } = plan;
  const isLowered = maxSockets < config.maxSockets;
  log[isLowered ? "warn" : "info"](
    { open_files: limit, kept_back: keptBack, max_sockets: maxSockets },
    `open files: ${describePlan(config, plan)}`,
  );
  return { ...config, maxSockets };
}

const watchEveryMs = 1000;

/**
 * Logs when the process has no descriptor left, and when it has one again. In between, the event loop silently closes new
 * connections.
 */
export class DescriptorWatch implements Disposable {
  readonly #log: Log;
  readonly #timer = setInterval(() => this.#look(), watchEveryMs).unref();
  #isShort = false;

  constructor(log: Log) {
    this.#log = log;
  }

  #look(): void {
    const shortage = findShortage();
    if (this.#isShort === (shortage !== undefined)) return;
    this.#isShort = shortage !== undefined;
    if (shortage === undefined) this.#log.warn("files can be opened again: new connections are accepted");
    else this.#log.error({ err: shortage }, "no file can be opened: new connections are closed until there is room");
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function findShortage(): Error | undefined {
  try {
    closeSync(openSync("/dev/null", "r"));
    return undefined;
  } catch (error) {
    return error instanceof Error && isShortage(error) ? error : undefined;
  }
}
