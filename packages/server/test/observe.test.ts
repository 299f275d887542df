import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { miniId, modelId, play, say, startTestServer, testKey, until } from "@parley/server/testing";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { engineStates } from "../src/observe/gauges.ts";
import { breakLedger } from "./break-state.ts";
import { useServer } from "./use-server.ts";

const server = useServer({ scenarios: { stall: [{ text: "a" }, { stall: true }] } });

describe("metrics", () => {
  test("count requests by their end, and tokens, and time", async () => {
    const { usage } = await server().complete({ model: miniId });
    await server().refuse({ messages: [] });
    const labels = `operation="createChatCompletion",model="${miniId}",status="200",code="",outcome="complete"`;
    await until(
      () => server().gauge(`parley_requests_total{${labels}}`),
      (count) => count === 1,
    );
    const text = await server().metrics();
    expect(text).toMatch(/parley_requests_total\{[^}]*status="400",code="invalid_value",outcome=""\} 1/);
    expect(text).toContain(`parley_tokens_total{model="${miniId}",kind="completion"} ${usage.completion_tokens}`);
    for (const name of [
      "parley_request_duration_seconds_count",
      "parley_time_to_first_token_seconds_count",
      "process_resident_memory_bytes",
    ])
      expect(text).toContain(name);
  });

  test("are on a port of their own, not on that of the service", async () => {
    expect(new URL(server().running.metricsUrl ?? "").port).not.toBe(new URL(server().origin).port);
    expect((await server().fetch("/metrics")).status).toBe(404);
  });

  test("are on the address that is set for them", async () => {
    await using other = await startTestServer({ settings: { metricsHost: "127.0.0.2" } });
    expect(new URL(other.running.metricsUrl ?? "").hostname).toBe("127.0.0.2");
    expect((await fetch(other.running.metricsUrl ?? "")).status).toBe(200);
  });

  test("show streams while they are open", async () => {
    const gone = new AbortController();
    await server().chat({ ...play("stall"), stream: true }, { signal: gone.signal });
    expect(await server().gauge("parley_streams_open")).toBe(1);
    gone.abort();
    await until(
      () => server().gauge("parley_streams_open"),
      (count) => count === 0,
    );
  });
});

describe("the log", () => {
  test("has one line per request, and never a prompt, an answer or a key", async () => {
    const response = await server().chat(say("a very secret question"));
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
    const id = response.headers.get("x-request-id") ?? "";
    const lines = await until(
      () => server().logLines.filter((line) => line.includes(id)),
      (found) => found.length > 0,
    );
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      {
        request_id: id,
        method: "POST",
        path: "/v1/chat/completions",
        status: 200,
        model: modelId,
        outcome: "complete",
      },
    ]);
    const all = server().logLines.join("\n");
    for (const secret of [testKey, "a very secret question", choices[0]?.message.content ?? ""])
      expect(all).not.toContain(secret);
  });
});

describe("a line of the log", () => {
  test("cuts a path at 256 characters", async () => {
    const response = await fetch(`${server().origin}/${"p".repeat(256)}`);
    const id = response.headers.get("x-request-id") ?? "";
    const [line = ""] = await until(
      () => server().logLines.filter((one) => one.includes(id)),
      (found) => found.length > 0,
    );
    expect(JSON.parse(line)).toMatchObject({ path: `/${"p".repeat(255)}` });
  });
});

describe("probes", () => {
  test("are logged at debug while they are good, and count as probes", async () => {
    for (const path of ["health", "ready", "ready?model=nobody"]) await fetch(`${server().origin}/${path}`);
    const lines = await until(
      () => server().logLines.filter((line) => line.includes('"operation":"probe"')),
      (found) => found.length >= 3,
    );
    const shown = lines.slice(-3).map((line) => JSON.parse(line) as object);
    expect(shown).toMatchObject([
      { level: 20, path: "/health", status: 200 },
      { level: 20, path: "/ready", status: 200 },
      { level: 30, path: "/ready", status: 404 },
    ]);
    expect(await server().metrics()).toMatch(/parley_requests_total\{operation="probe",[^}]*status="200"/);
  });
});

test("a ledger that cannot be written is logged once with its reason, and not again for the requests that it refuses", async () => {
  await using other = await startTestServer();
  breakLedger(other);
  const refusals = await Promise.all(Array.from({ length: 20 }, () => other.refuse()));
  expect(new Set(refusals.map(({ status }) => status))).toEqual(new Set([503]));
  await until(
    () => other.logLines.filter((line) => line.includes('"status":503')),
    (found) => found.length === 20,
  );
  expect(other.logLines.filter((line) => line.includes('"stack"'))).toEqual([
    expect.stringContaining("the ledger cannot be written"),
  ]);
});

describe("health", () => {
  const ready = async (query = ""): Promise<unknown> => {
    const response = await fetch(`${server().origin}/ready${query}`);
    return { status: response.status, body: await response.json() };
  };

  test("OPS-01 needs no key, and knows the models one by one", async () => {
    expect(await (await fetch(`${server().origin}/health`)).json()).toEqual({ status: "ok" });
    expect((await fetch(`${server().origin}/health`, { method: "HEAD" })).status).toBe(200);
    const models = { [modelId]: "ready", [miniId]: "ready" };
    expect(await ready()).toEqual({ status: 200, body: { status: "ready", models, ledger: "ok" } });
    expect(await ready("?model=nobody")).toMatchObject({ status: 404 });
  });
});

test("the contract names every state that an engine may be in", () => {
  for (const state of engineStates) expect(contract.info.description).toContain(`\`${state}\``);
});

describe("the contract and its pages", () => {
  test("/ leads to them", async () => {
    const response = await fetch(server().origin, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([302, "/docs"]);
  });

  test("are served without a key, and are the same document twice", async () => {
    const [json, yaml] = await Promise.all(
      ["openapi.json", "openapi.yaml"].map(async (name) => (await fetch(`${server().origin}/${name}`)).text()),
    );
    const document = JSON.parse(json ?? "") as { openapi: string };
    expect(document.openapi).toBe("3.1.1");
    expect(parse(yaml ?? "")).toEqual(document);
  });

  test.each(["/docs", "/docs/errors", "/docs/errors/rate_limit_exceeded"])("%s is a page", async (path) => {
    const response = await fetch(server().origin + path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await response.text()).toMatch(/<html/);
  });

  test("the page that an error points to is there", async () => {
    const { error } = (await (await server().chat({ n: 0 })).json()) as { error: { doc_url?: string } };
    const url = error.doc_url ?? `${server().origin}/docs/errors/invalid_value`;
    expect((await fetch(url)).status).toBe(200);
  });

  test("a file next to the pages is not served", async () => {
    for (const path of ["/docs/../package.json", "/docs/%2e%2e/README.md", "/docs/errors/..%2f..%2fREADME.md"])
      expect((await fetch(server().origin + path)).status).toBeGreaterThanOrEqual(400);
  });
});
