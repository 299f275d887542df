import type { RequestListener } from "node:http";
import type { Registry } from "prom-client";

/** `/metrics` in Prometheus' text format, and nothing else. */
export const metricsHandler =
  (registry: Registry): RequestListener =>
  (request, response) => {
    if (request.url?.split("?", 1)[0] !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("Metrics are at /metrics.\n");
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
