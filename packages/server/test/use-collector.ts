import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { until } from "@parley/server/testing";

/** The members of OTLP's JSON that these tests read. */
interface Attribute {
  readonly key: string;
  readonly value: object;
}
export interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}
interface Payload {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly histogram: { readonly dataPoints: readonly object[] };
      }[];
    }[];
  }[];
}

/** A stand-in for a collector, which keeps what it gets. */
export async function openCollector(closing: (() => unknown)[]) {
  const payloads: Payload[] = [];
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      payloads.push((await json(request)) as Payload);
      response.setHeader("content-type", "application/json").end("{}");
    };
    void take();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const spans = (): Span[] =>
    payloads.flatMap(({ resourceSpans = [] }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans: some }) => some)),
    );
  const instances = (): Set<unknown> =>
    new Set(
      payloads.flatMap(({ resourceSpans = [] }) =>
        resourceSpans.map(({ resource }) => valuesOf(resource)["service.instance.id"]),
      ),
    );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // an address, because it listens on a port
    payloads,
    spans,
    /** Returns the ids of the processes that have sent spans. */
    instances,
    /** Waits for the trace of a request. Returns its spans by name. */
    trace: async (count: number) => {
      const all = await until(spans, ({ length }) => length >= count);
      return new Map(all.map((span) => [span.name.split(" ", 1)[0], span]));
    },
  };
}

/** Returns the attributes of a span or resource by name. */
export const valuesOf = (span: Pick<Span, "attributes"> | undefined): Record<string, unknown> =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));
