import { AggregatorRegistry } from "prom-client";
import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";
import type { EngineGauges } from "@parley/inference";
import type { ObservedModel } from "../observe/gauges.ts";
import type { StartedModel } from "../models/start-models.ts";
import type { ServingCounts } from "../serve-requests.ts";

/** The metrics of a registry, as values. */
type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

/** The numbers of one worker. */
export interface ProcessNumbers extends ServingCounts {
  /** By model id. */
  readonly engines: Readonly<Record<string, Pick<EngineGauges, "running" | "aborted" | "ejected">>>;
  /** The metrics of the process: memory, processor time, event loop. */
  readonly process: MetricValues;
}

/** Returns the numbers as values, because a worker sends a copy of them to its parent. */
export const toValues = ({
  requests,
  connections,
  gatheredBytes,
  spans,
  unkeptAnswers,
}: ServingCounts): ServingCounts => ({
  requests: {
    running: requests.running,
    streams: requests.streams,
    heldUsd: requests.heldUsd,
    isHealthy: requests.isHealthy,
  },
  connections: { open: connections.open, refused: { ...connections.refused } },
  gatheredBytes: { total: gatheredBytes.total, givenUp: gatheredBytes.givenUp },
  spans: { sent: spans.sent, lost: spans.lost },
  unkeptAnswers: { ...unkeptAnswers },
});

/** Adds up the numbers of all workers. The counts of a dead worker stay, so no counter goes back. */
export class WorkerTotals implements ServingCounts {
  readonly #live = new Map<number, ProcessNumbers>();
  /** The last numbers of dead workers. */
  readonly #dead: ProcessNumbers[] = [];
  readonly requests: ServingCounts["requests"];
  readonly connections: ServingCounts["connections"];
  readonly gatheredBytes: ServingCounts["gatheredBytes"];
  readonly spans: ServingCounts["spans"];
  readonly unkeptAnswers: ServingCounts["unkeptAnswers"];

  constructor() {
    const live = this.#live;
    const now = (read: (numbers: ProcessNumbers) => number): number => sum(live.values(), read);
    const ever = (read: (numbers: ProcessNumbers) => number): number => this.#sumOfAll(read);
    this.requests = {
      get running() {
        return now(({ requests }) => requests.running);
      },
      get streams() {
        return now(({ requests }) => requests.streams);
      },
      get heldUsd() {
        return now(({ requests }) => requests.heldUsd);
      },
      get isHealthy() {
        return [...live.values()].every(({ requests }) => requests.isHealthy);
      },
    };
    this.connections = {
      get open() {
        return now(({ connections }) => connections.open);
      },
      get refused() {
        return {
          all: ever(({ connections }) => connections.refused.all),
          address: ever(({ connections }) => connections.refused.address),
        };
      },
    };
    this.gatheredBytes = {
      get total() {
        return now(({ gatheredBytes }) => gatheredBytes.total);
      },
      get givenUp() {
        return ever(({ gatheredBytes }) => gatheredBytes.givenUp);
      },
    };
    this.spans = {
      get sent() {
        return ever(({ spans }) => spans.sent);
      },
      get lost() {
        return ever(({ spans }) => spans.lost);
      },
    };
    this.unkeptAnswers = unkeptAnswersOf(ever);
  }

  /** Replaces the numbers of a live worker. */
  note(worker: number, numbers: ProcessNumbers): void {
    this.#live.set(worker, numbers);
  }

  /** Must be called when a worker has ended. */
  end(worker: number): void {
    const numbers = this.#live.get(worker);
    this.#live.delete(worker);
    if (numbers) this.#dead.push({ ...numbers, process: [] });
  }

  /** Returns a model for the gauges. Its generations run in the workers, and each worker has its own connections. */
  observed({ id, queue, engine }: StartedModel): ObservedModel {
    return {
      id,
      queue,
      engine: {
        get state() {
          return engine.state;
        },
        gauges: () => ({
          ...engine.gauges(),
          aborted: this.#sumOfAll(({ engines }) => engines[id]?.aborted ?? 0),
          ejected: Math.max(0, ...Array.from(this.#live.values(), ({ engines }) => engines[id]?.ejected ?? 0)),
        }),
      },
    };
  }

  /**
   * Returns the metrics of the server with those of its worker processes, which have the label `worker`.
   * @param update gets the numbers of now from the workers
   */
  async text(registry: Registry, update: () => Promise<void>): Promise<string> {
    await update();
    const own: MetricValues = await registry.getMetricsAsJSON();
    // No two processes have a series with the same labels, so every metric can be added up.
    const summed = own.map((metric) => ({ ...metric, aggregator: "sum" as const }));
    return AggregatorRegistry.aggregate([
      summed,
      ...Array.from(this.#live.values(), ({ process }) => process),
    ]).metrics();
  }

  #sumOfAll(read: (numbers: ProcessNumbers) => number): number {
    return sum([...this.#live.values(), ...this.#dead], read);
  }
}

const unkeptAnswersOf = (
  ever: (read: (numbers: ProcessNumbers) => number) => number,
): ServingCounts["unkeptAnswers"] => ({
  get size() {
    return ever(({ unkeptAnswers }) => unkeptAnswers.size);
  },
  get store() {
    return ever(({ unkeptAnswers }) => unkeptAnswers.store);
  },
});

const sum = (numbers: Iterable<ProcessNumbers>, read: (numbers: ProcessNumbers) => number): number =>
  Array.from(numbers, read).reduce((all, one) => all + one, 0);
