import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from "@opentelemetry/otlp-exporter-base/node-http";
import type { SpanCounts } from "./tracing.ts";

/** Maximum number of spans that wait for the collector. Further ones are lost. */
const maxWaiting = 4096;
/** Spans of a batch. Each batch costs a request. */
const maxBatch = 1024;
/** Milliseconds until spans are sent, if they do not fill a batch before. */
const batchMs = 1000;
/** Bytes of a batch. A plain answer has three spans, which take 2.2 KB. */
const maxBatchBytes = 1 << 20;

interface Batch {
  readonly body: Buffer;
  readonly spans: number;
}

interface SpanBatchesOptions {
  readonly url: string;
  /** The request to the collector, before and after the spans. */
  readonly around: readonly [before: string, after: string];
  /** Called once, with the first failure to send spans. */
  readonly onFailure: (error: Error) => void;
}

/** Sends spans in batches, and counts those that the collector took and those that were lost. */
export class SpanBatches implements SpanCounts {
  sent = 0;
  lost = 0;
  readonly #around: readonly [before: Buffer, after: Buffer];
  readonly #onFailure: (error: Error) => void;
  /** Spans that are not sent yet or have no answer yet. */
  #waiting = 0;
  #hasFailed = false;
  /** The open batch. Spans are bytes from the start, because V8 would copy texts that wait for a second twice. */
  readonly #bytes = Buffer.allocUnsafeSlow(maxBatchBytes);
  #usedBytes = 0;
  #spans = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #collector: ReturnType<typeof openCollector>;

  constructor({ url, around: [before, after], onFailure }: SpanBatchesOptions) {
    this.#around = [Buffer.from(before), Buffer.from(after)];
    this.#onFailure = onFailure;
    this.#collector = openCollector(url);
  }

  /** @param spans objects of OTLP's JSON, each followed by a comma */
  take(spans: string, count: number): void {
    if (this.#waiting + count > maxWaiting) {
      this.lost += count;
      return;
    }
    this.#waiting += count;
    if (this.#usedBytes + spans.length * 3 > maxBatchBytes) this.#send();
    this.#usedBytes += this.#bytes.write(spans, this.#usedBytes);
    this.#spans += count;
    if (this.#spans >= maxBatch) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), batchMs).unref();
  }

  /** Sends the spans that wait. Resolves when the collector has answered or has failed to. */
  close(): Promise<void> {
    this.#send();
    return this.#collector.shutdown();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#spans === 0) return;
    const [before, after] = this.#around;
    const body = Buffer.concat([before, this.#bytes.subarray(0, this.#usedBytes - 1), after]); // without the last comma
    const batch = { body, spans: this.#spans };
    this.#usedBytes = 0;
    this.#spans = 0;
    this.#collector.export(batch, ({ error }) => {
      this.#waiting -= batch.spans;
      if (error) this.lost += batch.spans;
      else this.sent += batch.spans;
      if (error && !this.#hasFailed) this.#onFailure(error);
      this.#hasFailed ||= error !== undefined;
    });
  }
}

/** Opens the library's way to a collector. It reads the standard variables, keeps the connection and tries again. */
function openCollector(url: string) {
  const options = convertLegacyHttpOptions({ url }, "TRACES", "v1/traces", { "Content-Type": "application/json" });
  const serializer = { serializeRequest: ({ body }: Batch) => body, deserializeResponse: () => ({}) };
  const helper = { name: "span", countItems: ({ spans }: Batch) => spans } as const;
  return createOtlpHttpExportDelegate(options, serializer, "otlp_http_span_exporter", helper, undefined);
}
