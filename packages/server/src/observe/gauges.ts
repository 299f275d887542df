import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Engine, EngineState } from "@parley/inference";

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
  readonly queue: { readonly waiting: number; readonly taken: number };
  readonly engine: Pick<Engine, "state" | "gauges">;
}

/** Number of admitted requests that are running, and of those that are streamed. */
export interface RunningCounts {
  readonly running: number;
  readonly streams: number;
  /** US dollars that running and queued requests hold of budgets. */
  readonly heldUsd: number;
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

/** The sources that are read at every scrape. */
export interface Observed {
  readonly models: readonly ObservedModel[];
  readonly requests: RunningCounts;
  readonly connections: ConnectionCounts;
  readonly gatheredBytes: GatheredAnswers;
  /** Returns the number of log lines that could not be written. */
  readonly lostLines: () => number;
}

/** Adds the gauges, which read the parts of the server at every scrape. */
export function addGauges(registers: Registry[], observed: Observed): void {
  addModelGauges(registers, observed);
  addConnectionGauges(registers, observed);
  addMoneyGauge(registers, observed);
  addAnswerGauges(registers, observed);
}

function addModelGauges(registers: Registry[], { models, requests, lostLines }: Observed): void {
  const gauge = addGauge.bind(undefined, registers);
  const perModel = (name: string, help: string, read: (model: ObservedModel) => number): Gauge =>
    gauge(name, help, ["model"], function () {
      for (const model of models) this.set({ model: model.id }, read(model));
    });
  perModel("parley_queue_waiting", "Requests that wait for a slot.", (model) => model.queue.waiting);
  perModel("parley_slots_in_use", "Slots that generate.", (model) => model.queue.taken);
  perModel(
    "parley_engine_restarts",
    "Restarts of the engine since the server started.",
    (model) => model.engine.gauges().restarts,
  );
  perModel(
    "parley_generations_aborted",
    "Generations that were stopped before their end.",
    (model) => model.engine.gauges().aborted,
  );
  perModel(
    "parley_endpoints_ejected",
    "Endpoints of the model that get no requests for a while, because they failed.",
    (model) => model.engine.gauges().ejected,
  );
  gauge("parley_requests_running", "Admitted requests that run.", [], function () {
    this.set(requests.running);
  });
  gauge(
    "parley_log_lines_lost",
    "Lines of the log that could not be written since the server started.",
    [],
    function () {
      this.set(lostLines());
    },
  );
  gauge("parley_streams_open", "Admitted requests that run and are streamed.", [], function () {
    this.set(requests.streams);
  });
  gauge("parley_engine_state", "1 for the state that the engine of a model is in.", ["model", "state"], function () {
    for (const { id, engine } of models) {
      for (const state of engineStates) this.set({ model: id, state }, engine.state === state ? 1 : 0);
    }
  });
}

function addConnectionGauges(registers: Registry[], { connections }: Observed): void {
  addGauge(registers, "parley_connections_open", "Connections of the service's port.", [], function () {
    this.set(connections.open);
  });
  const refusedHelp = "Connections that were closed since the server started, by the bound that they exceeded.";
  addGauge(registers, "parley_connections_refused", refusedHelp, ["bound"], function () {
    for (const bound of ["all", "address"] as const) this.set({ bound }, connections.refused[bound]);
  });
}

function addMoneyGauge(registers: Registry[], { requests }: Observed): void {
  addGauge(registers, "parley_reserved_usd", "US dollars that running requests hold of budgets.", [], function () {
    this.set(requests.heldUsd);
  });
}

function addAnswerGauges(registers: Registry[], { gatheredBytes }: Observed): void {
  const heldHelp = "Bytes of answers that are not streamed, while they are collected and read.";
  addGauge(registers, "parley_answer_bytes", heldHelp, [], function () {
    this.set(gatheredBytes.total);
  });
  const givenUpHelp =
    "Answers that are not streamed and were ended since the server started, because all of them together needed too much memory.";
  addGauge(registers, "parley_answers_given_up", givenUpHelp, [], function () {
    this.set(gatheredBytes.givenUp);
  });
}

const addGauge = (
  registers: Registry[],
  name: string,
  help: string,
  labelNames: string[],
  collect: (this: Gauge) => void,
): Gauge => new Gauge({ name, help, labelNames, registers, collect });
