import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { modelId, startTestServer, until, withKey } from "@parley/server/testing";
import { useServer } from "./use-server.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

interface Panel {
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const deploy = join(import.meta.dirname, "../../../deploy");
const file = join(deploy, "alerts.yaml");
const text = readFileSync(file, "utf8");
const { panels } = JSON.parse(readFileSync(join(deploy, "grafana.json"), "utf8")) as {
  readonly panels: readonly Panel[];
};
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const server = useServer({ settings: { tokensPerMinute: 100, metricsKeys: 2 } });

/** The page of metrics. It has a line for each series, with its labels if the series has a value. */
const shown = async (): Promise<string> => server().metrics();

/** Returns the metrics of a query that the server does not have. */
async function missingOf(expr: string): Promise<string[]> {
  const page = await shown();
  const names = [...expr.matchAll(/\b(?:parley|process)_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ""));
  return names.length === 0 ? ["none is named"] : names.filter((name) => !page.includes(`# TYPE ${name} `));
}

/** Runs `promtool`, with a text on its standard input. */
const promtool = (args: readonly string[], input = ""): { readonly status: number | null; readonly said: string } => {
  const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8", input, cwd: deploy });
  return { status, said: stdout + stderr };
};

describe("the board for Grafana", () => {
  test.each(queries)("$title reads metrics that the server has: $expr", async ({ expr }) => {
    expect(await missingOf(expr)).toEqual([]);
  });

  test("has a place of its own for each panel", () => {
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
    expect(queries.length).toBeGreaterThan(15);
  });
});

describe("an alert rule", () => {
  test.each(rules)("$alert reads metrics that the server has", async ({ expr, annotations }) => {
    expect(await missingOf(expr)).toEqual([]);
    expect(annotations.summary).toMatch(/^[^\n]{20,160}$/);
  });

  test("has a name of its own", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });
});

describe("the metrics of shares and bounds", () => {
  test("count what keys of a weight were served, how long they waited, and what refused them", async () => {
    const { usage } = await server().complete({ max_completion_tokens: 10 });
    expect((await server().refuse({ max_completion_tokens: 1000 })).status).toBe(429);
    await until(
      () => server().gauge('parley_refusals_total{bound="tokens"}'),
      (count) => count === 1,
    );
    expect(await server().gauge('parley_served_tokens_total{weight="1"}')).toBe(usage.total_tokens);
    expect(await server().gauge(`parley_queue_wait_seconds_count{model="${modelId}",weight="1"}`)).toBe(1);
  });
});

describe("the metrics of keys", () => {
  test("count the first keys that are used by themselves, with the rest of their budgets, and the others together", async () => {
    await using other = await startTestServer({ settings: { metricsKeys: 1 } });
    const first = await other.makeKey({ budgetUsd: "1", monthlyBudgetUsd: "0.5" });
    const { usage } = await other.complete({}, withKey(first));
    for (let index = 0; index < 2; index += 1) await other.complete({}, withKey(await other.makeKey()));
    const [entry] = await other.ledger();
    const id = entry?.key_id ?? "";
    await until(
      () => other.gauge('parley_key_requests_total{key_id="other",outcome="complete"}'),
      (count) => count === 2,
    );
    expect(await other.gauge(`parley_key_requests_total{key_id="${id}",outcome="complete"}`)).toBe(1);
    expect(await other.gauge(`parley_key_tokens_total{key_id="${id}",kind="completion"}`)).toBe(
      usage.completion_tokens,
    );
    expect(await other.gauge(`parley_key_cost_usd_total{key_id="${id}"}`)).toBe(Number(entry?.cost_usd));
    const restOf = (budget: string): Promise<number> =>
      other.gauge(`parley_key_budget_remaining_usd{key_id="${id}",budget="${budget}"}`);
    expect(await restOf("total")).toBeCloseTo(1 - Number(entry?.cost_usd), 12);
    expect(await restOf("month")).toBeCloseTo(0.5 - Number(entry?.cost_usd), 12);
  });
});

describe.skipIf(!hasPromtool)("promtool (it would run with `promtool` on the PATH)", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-board-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("takes the rules", () => {
    const done = promtool(["check", "rules", file]);
    expect(done).toMatchObject({ status: 0 });
    expect(done.said).toContain(`${rules.length} rules found`);
  });

  test("sees each alert fire and stay silent", () => {
    const tests = readFileSync(join(deploy, "alerts.test.yaml"), "utf8");
    for (const { alert } of rules) expect(tests).toContain(`alertname: ${alert}\n`);
    const done = promtool(["test", "rules", "alerts.test.yaml"]);
    expect(done).toMatchObject({ status: 0 });
  });

  test("takes the queries of the board", () => {
    const exprs = queries.map(({ expr }) => expr.replaceAll("$__rate_interval", "5m"));
    const groups = [{ name: "board", rules: exprs.map((expr, index) => ({ record: `query:${index}`, expr })) }];
    const rulesFile = join(folder, "board.json");
    writeFileSync(rulesFile, JSON.stringify({ groups }));
    const done = promtool(["check", "rules", rulesFile]);
    expect(done).toMatchObject({ status: 0 });
  });

  test("finds no fault in the names and helps of the metrics", async () => {
    const done = promtool(["check", "metrics"], await shown());
    expect(done).toMatchObject({ status: 0 });
  });
});
