import { BatchSpanProcessor } from "@opentelemetry/sdk-trace";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { SpanCounts } from "./tracing.ts";

/** Maximum number of spans that wait for the collector. Further ones are lost. A span takes about 2 KB. */
const maxWaiting = 4096;
/** Milliseconds until spans are sent, if they do not fill a batch before. */
const batchMs = 1000;

/** Sends spans in batches, and counts those that the collector took and those that were lost. */
export class CountedSpans extends BatchSpanProcessor implements SpanCounts {
  sent = 0;
  lost = 0;
  #waiting = 0;

  /** @param onFailure is called once, with the first failure */
  constructor(exporter: SpanExporter, onFailure: (error: Error) => void) {
    const send: SpanExporter["export"] = (spans, done) =>
      exporter.export(spans, (result) => {
        this.#waiting -= spans.length;
        if (result.error) this.lost += spans.length;
        else this.sent += spans.length;
        if (result.error && !hasFailed) onFailure(result.error);
        hasFailed ||= result.error !== undefined;
        done(result);
      });
    let hasFailed = false;
    const counted = { export: send, shutdown: () => exporter.shutdown() };
    super({ exporter: counted, maxQueueSize: maxWaiting, scheduledDelayMillis: batchMs });
  }

  override onEnd(span: ReadableSpan): void {
    if (this.#waiting >= maxWaiting) this.lost += 1;
    else {
      this.#waiting += 1;
      super.onEnd(span);
    }
  }
}
