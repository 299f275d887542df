import type { RequestListener } from "node:http";
import type { Registry } from "prom-client";

/** `/metrics` in Prometheus' text format, and nothing else. Scrapes that come at once share one text. */
export function metricsHandler(registry: Registry): RequestListener {
  let underWay: Promise<Buffer> | undefined;
  const render = async (): Promise<Buffer> => {
    try {
      return Buffer.from(await registry.metrics());
    } finally {
      underWay = undefined;
    }
  };
  return (request, response) => {
    if (request.url?.split("?", 1)[0] !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("Metrics are at /metrics.\n");
      return;
    }
    (underWay ??= render()).then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
}
