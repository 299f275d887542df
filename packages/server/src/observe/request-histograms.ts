import { ValueType } from "@opentelemetry/api";
import type { Attributes, HrTime } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import { AggregationTemporality, DataPointType } from "@opentelemetry/sdk-metrics";
import type { CollectionResult, HistogramMetricData, MetricProducer } from "@opentelemetry/sdk-metrics";
import { ownVersion } from "./own-version.ts";
import { furtherTokens } from "./request-record.ts";
import type { RequestRecord } from "./request-record.ts";

/** The histograms of the conventions for generative AI, with the buckets that they recommend. */
const descriptions = [
  {
    name: "request.duration",
    description: "From the head of a request to the end of its answer.",
    boundaries: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
  {
    name: "time_to_first_token",
    description: "From the head of a request to the engine's first event.",
    boundaries: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  },
  {
    name: "time_per_output_token",
    description: "Mean time of a request for each further token of a choice.",
    boundaries: [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
  },
] as const;

/** The values of one histogram for requests with the same attributes. */
class Values {
  readonly #boundaries: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  constructor(boundaries: readonly number[]) {
    this.#boundaries = boundaries;
    this.#counts = Array.from({ length: boundaries.length + 1 }, () => 0);
  }

  add(value: number): void {
    let bucket = 0;
    while (value > (this.#boundaries[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
    this.#count += 1;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
  }

  /** Returns a copy, or undefined if there are no values. */
  read(): HistogramMetricData["dataPoints"][number]["value"] | undefined {
    if (this.#count === 0) return undefined;
    const buckets = { boundaries: [...this.#boundaries], counts: [...this.#counts] };
    return { buckets, sum: this.#sum, count: this.#count, min: this.#min, max: this.#max };
  }
}

interface Series {
  readonly attributes: Attributes;
  readonly values: readonly [duration: Values, firstToken: Values, perToken: Values];
}

interface RequestHistogramsOptions {
  readonly resource: Resource;
  /** The wall clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Cumulative: all values since the start. Delta: the values since the last collection. */
  readonly temporality: AggregationTemporality;
}

/**
 * Counts requests in histograms, which the library collects. Its own instruments sort and join the attributes for each value,
 * which took more time than the spans.
 */
export class RequestHistograms implements MetricProducer {
  readonly #options: RequestHistogramsOptions;
  readonly #series = new Map<string, Series>();
  #startTime: HrTime;

  constructor(options: RequestHistogramsOptions) {
    this.#options = options;
    this.#startTime = toHrTime(options.nowMs());
  }

  count(record: RequestRecord, seconds: number): void {
    const [duration, firstToken, perToken] = this.#seriesOf(record).values;
    duration.add(seconds);
    if (record.outcome !== "complete" || record.firstEventMs === undefined) return;
    const firstSeconds = record.firstEventMs / 1000;
    firstToken.add(firstSeconds);
    const further = furtherTokens(record);
    if (further >= 1) perToken.add((seconds - firstSeconds) / further);
  }

  collect(): Promise<CollectionResult> {
    const { resource, nowMs, temporality } = this.#options;
    const startTime = this.#startTime;
    const endTime = toHrTime(nowMs());
    const metrics = descriptions.flatMap(({ name, description }, place): HistogramMetricData[] => {
      const dataPoints = [...this.#series.values()].flatMap(({ attributes, values }) => {
        const value = values[place]?.read();
        return value ? [{ attributes, startTime, endTime, value }] : [];
      });
      const descriptor = { name: `gen_ai.server.${name}`, description, unit: "s", valueType: ValueType.DOUBLE };
      const kind = { aggregationTemporality: temporality, dataPointType: DataPointType.HISTOGRAM } as const;
      return dataPoints.length === 0 ? [] : [{ descriptor, ...kind, dataPoints }];
    });
    if (temporality === AggregationTemporality.DELTA) {
      this.#series.clear();
      this.#startTime = endTime;
    }
    const scope = { name: "parley", version: ownVersion };
    const scopeMetrics = metrics.length === 0 ? [] : [{ scope, metrics }];
    return Promise.resolve({ resourceMetrics: { resource, scopeMetrics }, errors: [] });
  }

  #seriesOf({ model, errorCode }: RequestRecord): Series {
    const key = `${model ?? ""} ${errorCode ?? ""}`; // a code has no blank
    const known = this.#series.get(key);
    if (known) return known;
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "parley",
      ...(model !== undefined && { "gen_ai.request.model": model }),
      ...(errorCode !== undefined && { "error.type": errorCode }),
    };
    const [duration, firstToken, perToken] = descriptions;
    const open = ({ boundaries }: (typeof descriptions)[number]): Values => new Values(boundaries);
    const series = { attributes, values: [open(duration), open(firstToken), open(perToken)] } as const;
    this.#series.set(key, series);
    return series;
  }
}

const toHrTime = (ms: number): HrTime => [Math.trunc(ms / 1000), Math.trunc((ms % 1000) * 1e6)];
