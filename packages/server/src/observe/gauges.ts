import contract from "@parley/contract/contract.json" with { type: "json" };
import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Engine, EngineState } from "@parley/inference";
import { ownVersion } from "./own-version.ts";
import type { SpanCounts } from "./tracing.ts";

export const engineStates = [
  "absent",
  "starting",
  "loading",
  "ready",
  "draining",
  "stopped",
  "crashed",
  "failed",
] as const satisfies readonly EngineState[];

/** The parts of a model that the gauges read. */
export interface ObservedModel {
  readonly id: string;
  readonly queue: { readonly waiting: number; readonly taken: number; readonly slots: number };
  readonly engine: Pick<Engine, "state" | "gauges">;
}

/** Number of admitted requests that are running, and of those that are streamed. */
export interface RunningCounts {
  readonly running: number;
  readonly streams: number;
  /** US dollars that running and queued requests hold of budgets. */
  readonly heldUsd: number;
  /** False while the ledger cannot be written. */
  readonly isHealthy: boolean;
}

/** Answers that are not streamed, while they are collected and sent. */
export interface GatheredAnswers {
  /** Bytes that all of them hold now. */
  readonly total: number;
  /** Number of answers that were ended because of the total memory, since the start. */
  readonly givenUp: number;
}

/** The connections of the service's port. */
export interface ConnectionCounts {
  readonly open: number;
  /** Number of closed connections since the start, by the bound that they exceeded. */
  readonly refused: Readonly<Record<"all" | "address", number>>;
}

/** The servers that share the state. */
export interface ServerCounts {
  /** Number of live servers, this one included. */
  readonly live: number;
  /** Number of live servers with other prices or limits than this one. */
  readonly differing: number;
}

/** The reloads of the settings since the start. */
export interface ReloadCounts {
  readonly ended: Readonly<Record<"applied" | "refused", number>>;
  /** Number of settings that had changed at the last reload and need a restart. */
  readonly restartNeeded: number;
  /** False if the last reload was refused. */
  readonly isLastGood: boolean;
  /** The time of the last reload that was applied, or of the start, in milliseconds since 1970. */
  readonly lastGoodMs: number;
}

/** The sources that are read at every scrape. */
export interface Observed {
  readonly models: readonly ObservedModel[];
  readonly requests: RunningCounts;
  readonly connections: ConnectionCounts;
  readonly gatheredBytes: GatheredAnswers;
  readonly spans: SpanCounts;
  /** Answers with an idempotency key that were not kept, by the reason: too large, or the store did not take them. */
  readonly unkeptAnswers: Readonly<Record<"size" | "store", number>>;
  readonly servers: ServerCounts;
  readonly reloads: ReloadCounts;
  readonly limits: { areDivided?(): boolean };
  /** Returns the number of log lines that could not be written. */
  readonly lostLines: () => number;
  /** Returns the bytes of keys and ledger on the disk; undefined: a database server has them. */
  readonly databaseBytes: (() => number) | undefined;
}

/** Adds the metrics that are read from the parts of the server at every scrape. */
export function addGauges(registers: Registry[], observed: Observed): void {
  addModelGauges(registers, observed);
  addRequestGauges(registers, observed);
  addConnectionGauges(registers, observed);
  addStateGauges(registers, observed);
  addServerGauges(registers, observed);
  addReloadGauges(registers, observed);
}

function addModelGauges(registers: Registry[], { models }: Observed): void {
  const ofModels = (read: (model: ObservedModel) => number): Series =>
    models.map((model) => [{ model: model.id }, read(model)]);
  const gauge = (name: string, help: string, read: (model: ObservedModel) => number): void =>
    addGauge(registers, { name, help, labelNames: ["model"] }, () => ofModels(read));
  const counter = (name: string, help: string, read: (model: ObservedModel) => number): void =>
    addCounter(registers, { name, help, labelNames: ["model"] }, () => ofModels(read));
  gauge("parley_queue_waiting", "Requests that wait for a slot.", ({ queue }) => queue.waiting);
  gauge("parley_slots", "Choices that this server lets a model generate at the same time.", ({ queue }) => queue.slots);
  gauge("parley_slots_in_use", "Slots that generate.", ({ queue }) => queue.taken);
  counter("parley_engine_restarts_total", "Restarts of the engine.", ({ engine }) => engine.gauges().restarts);
  const abortedHelp = "Generations that were stopped before their end.";
  counter("parley_generations_aborted_total", abortedHelp, ({ engine }) => engine.gauges().aborted);
  const ejectedHelp = "Endpoints of the model that get no requests for a while, because they failed.";
  gauge("parley_endpoints_ejected", ejectedHelp, ({ engine }) => engine.gauges().ejected);
  const stateHelp = "1 for the state that the engine of a model is in.";
  addGauge(registers, { name: "parley_engine_state", help: stateHelp, labelNames: ["model", "state"] }, () =>
    models.flatMap(({ id, engine }) =>
      engineStates.map((state) => [{ model: id, state }, engine.state === state ? 1 : 0] as const),
    ),
  );
}

function addRequestGauges(registers: Registry[], { requests, gatheredBytes, unkeptAnswers }: Observed): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    addGauge(registers, { name, help }, () => [[{}, read()]]);
  gauge("parley_requests_running", "Admitted requests that run.", () => requests.running);
  gauge("parley_streams_open", "Admitted requests that run and are streamed.", () => requests.streams);
  gauge("parley_reserved_usd", "US dollars that running requests hold of budgets.", () => requests.heldUsd);
  const heldHelp = "Bytes of answers that are not streamed, while they are collected and read.";
  gauge("parley_answer_bytes", heldHelp, () => gatheredBytes.total);
  const help = "Answers that are not streamed and were ended because all of them together needed too much memory.";
  addCounter(registers, { name: "parley_answers_given_up_total", help }, () => [[{}, gatheredBytes.givenUp]]);
  const unkeptHelp = "Answers with an idempotency key that were not kept: too large, or the store did not take them.";
  addCounter(registers, { name: "parley_answers_unkept_total", help: unkeptHelp, labelNames: ["reason"] }, () =>
    (["size", "store"] as const).map((reason) => [{ reason }, unkeptAnswers[reason]]),
  );
}

function addServerGauges(registers: Registry[], { servers, limits }: Observed): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    addGauge(registers, { name, help }, () => [[{}, read()]]);
  gauge("parley_servers_live", "Live servers that share the state, this one included.", () => servers.live);
  const help = "Live servers that share the state and have other prices or limits than this one.";
  gauge("parley_servers_differing", help, () => servers.differing);
  const dividedHelp = "1 while Valkey is away and this server grants its part of the limits, otherwise 0.";
  gauge("parley_limits_divided", dividedHelp, () => (limits.areDivided?.() ? 1 : 0));
}

function addReloadGauges(registers: Registry[], { reloads }: Observed): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    addGauge(registers, { name, help }, () => [[{}, read()]]);
  const help = "Reloads of the settings: applied, or refused because of faults.";
  addCounter(registers, { name: "parley_config_reloads_total", help, labelNames: ["result"] }, () =>
    (["applied", "refused"] as const).map((result) => [{ result }, reloads.ended[result]]),
  );
  const goodHelp = "0 if the last reload of the settings was refused, otherwise 1.";
  gauge("parley_config_last_reload_successful", goodHelp, () => (reloads.isLastGood ? 1 : 0));
  const timeHelp = "Time of the last reload that was applied, or of the start, in seconds since 1970.";
  gauge("parley_config_last_reload_success_timestamp_seconds", timeHelp, () => reloads.lastGoodMs / 1000);
  const restartHelp = "Settings that had changed at the last reload and need a restart.";
  gauge("parley_config_restart_needed", restartHelp, () => reloads.restartNeeded);
}

function addConnectionGauges(registers: Registry[], { connections }: Observed): void {
  const openHelp = "Connections of the service's port.";
  addGauge(registers, { name: "parley_connections_open", help: openHelp }, () => [[{}, connections.open]]);
  const help = "Connections that were closed, by the bound that they exceeded.";
  addCounter(registers, { name: "parley_connections_refused_total", help, labelNames: ["bound"] }, () =>
    (["all", "address"] as const).map((bound) => [{ bound }, connections.refused[bound]]),
  );
}

function addStateGauges(registers: Registry[], { requests, lostLines, spans, databaseBytes }: Observed): void {
  const labels = { version: ownVersion, contract: contract.info.version, node: process.version };
  const buildHelp = "Always 1. The labels are the versions of the server, its contract and Node.";
  const labelNames = Object.keys(labels);
  addGauge(registers, { name: "parley_build_info", help: buildHelp, labelNames }, () => [[labels, 1]]);
  const writableHelp = "1 while the ledger can be written, otherwise 0.";
  const isWritable = (): number => (requests.isHealthy ? 1 : 0);
  addGauge(registers, { name: "parley_ledger_writable", help: writableHelp }, () => [[{}, isWritable()]]);
  const lostHelp = "Lines of the log that could not be written.";
  addCounter(registers, { name: "parley_log_lines_lost_total", help: lostHelp }, () => [[{}, lostLines()]]);
  const spansHelp = "Spans for the OpenTelemetry collector: sent, or lost because it did not take them.";
  addCounter(registers, { name: "parley_spans_total", help: spansHelp, labelNames: ["outcome"] }, () =>
    (["sent", "lost"] as const).map((outcome) => [{ outcome }, spans[outcome]]),
  );
  if (!databaseBytes) return;
  const help = "Bytes of keys and ledger on the disk.";
  addGauge(registers, { name: "parley_database_bytes", help }, () => [[{}, databaseBytes()]]);
}

/** Values of a metric, each with its labels. */
type Series = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

interface Description {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
}

function addGauge(registers: Registry[], description: Description, read: () => Series): void {
  const gauge: Gauge = new Gauge({
    ...description,
    registers,
    collect: () => {
      for (const [labels, value] of read()) gauge.set({ ...labels }, value);
    },
  });
}

/** Adds a metric that only grows while the server runs. */
function addCounter(registers: Registry[], description: Description, read: () => Series): void {
  const counter: Counter = new Counter({
    ...description,
    registers,
    collect: () => {
      counter.reset();
      for (const [labels, value] of read()) counter.inc({ ...labels }, value);
    },
  });
}
