import type { RequestListener } from "node:http";
import type { Registry } from "prom-client";

/** Serves only `/metrics`, in Prometheus' text format. Concurrent scrapes share one text. */
export function metricsHandler(registry: Registry): RequestListener {
  let running: Promise<Buffer> | undefined;
  const render = async (): Promise<Buffer> => {
    try {
      return Buffer.from(await registry.metrics());
    } finally {
      running = undefined;
    }
  };
  return (request, response) => {
    if (request.url?.split("?", 1)[0] !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("Metrics are at /metrics.\n");
      return;
    }
    (running ??= render()).then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
}
