import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { openPlace, refusePlace } from "@parley/inference/testing/places";
import type { Place } from "@parley/inference/testing/places";
import { chatInit, miniId, startTestServer, until } from "@parley/server/testing";
import { EndpointMetrics } from "../src/observe/endpoint-metrics.ts";
import { useFolder } from "./use-folder.ts";
import { own, send, startWorkers } from "./use-workers.ts";

/** The metrics of each endpoint of a remote model. */

const folder = useFolder();

const remote = (places: readonly Place[]) =>
  ({ urls: places.map(({ url }) => url), model: "there", tokenizer: miniFolder }) as const;

const ask = { model: miniId, max_completion_tokens: 8 };
const failedName = (place: Place): string =>
  `parley_endpoint_requests_total{model="${miniId}",endpoint="${place.url}",outcome="failed"}`;
const timedName = (place: Place): string =>
  `parley_endpoint_time_to_first_token_seconds_count{model="${miniId}",endpoint="${place.url}"}`;

test("a failing endpoint is seen while the other one answers for it", async () => {
  const [fails, answers] = [await openPlace(), await openPlace()];
  await using server = await startTestServer({
    settings: { models: { "model-1-mini": { engine: "remote", remote: remote([fails, answers]) } } },
  });
  fails.answer = refusePlace(502, "<html></html>");
  // Each conversation has an endpoint, so several are needed to meet the one that fails.
  for (let turn = 0; turn < 20; turn += 1) {
    const messages = [{ role: "user", content: `I am customer ${turn}.` }] as const;
    expect((await server.complete({ ...ask, messages })).choices).toHaveLength(1);
  }
  await until(
    () => server.gauge(timedName(answers)),
    (count) => count >= 20,
  );
  expect(await server.gauge(failedName(fails))).toBeGreaterThan(0);
  expect(await server.gauge(failedName(answers))).toBe(0);
});

test("the endpoints of all workers are counted in one place", async () => {
  const place = await openPlace();
  const models = { "model-1-mini": { engine: "remote", remote: remote([place]) } };
  writeFileSync(join(folder.path(), "parley.yaml"), JSON.stringify({ models }));
  const workers = await startWorkers(folder);
  await using _server = workers.server;
  const counted = async (): Promise<number> => {
    const text = await (await fetch(workers.metricsUrl)).text();
    const line = text.split("\n").find((one) => one.startsWith(`${timedName(place)} `));
    return Number(line?.split(" ").at(-1) ?? 0);
  };
  const before = place.asked;
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => send(workers.url, chatInit(ask, { headers: own }))),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
  expect(place.asked - before).toBe(12);
  // Parent and workers have probed the endpoint, too.
  await until(counted, (count) => count >= 12 + 3 && count === place.asked);
});

test("only the endpoints that were asked last have series", async () => {
  const registry = new Registry();
  const metrics = new EndpointMetrics(2);
  metrics.addTo(registry);
  const ask = (endpoint: string): void => metrics.count("m", { endpoint, outcome: "answered", firstEventMs: 30 });
  for (const endpoint of ["http://a", "http://b", "http://a", "http://c"]) ask(endpoint);
  const page = await registry.metrics();
  expect(page).toContain('parley_endpoint_requests_total{model="m",endpoint="http://a",outcome="answered"} 2');
  expect(page).toContain('parley_endpoint_time_to_first_token_seconds_count{model="m",endpoint="http://c"} 1');
  expect(page).not.toContain("http://b");
});
