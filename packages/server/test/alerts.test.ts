import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { miniFolder } from "@parley/inference/testing";
import { openPlace } from "@parley/inference/testing/places";
import { miniId, modelId, startTestServer, until, withKey } from "@parley/server/testing";
import { Registry } from "prom-client";
import { addGroupMetrics } from "../src/accounts/group-metrics.ts";
import { startAdmin } from "./admin/use-admin.ts";
import { useServer } from "./use-server.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

interface Panel {
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const deploy = join(import.meta.dirname, "../../../deploy");
const file = join(deploy, "alerts.yaml");
const text = readFileSync(file, "utf8");
const { panels } = JSON.parse(readFileSync(join(deploy, "grafana.json"), "utf8")) as {
  readonly panels: readonly Panel[];
};
const queries = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const server = useServer({ settings: { tokensPerMinute: 100 } });

/** The page of metrics of a server with budgets, and with a local and a remote model, that has answered and refused requests. */
let page = "";
beforeAll(async () => {
  const remote = { urls: [(await openPlace()).url], model: "there", tokenizer: miniFolder };
  const models = { "model-1": {}, "model-1-mini": { engine: "remote", remote } } as const;
  await using admin = await startAdmin({ settings: { tokensPerMinute: 200, metricsKeys: 2, models } });
  const observed = admin.server;
  const group = { name: "team", budget_usd: "1" };
  const { id: groupId } = await admin.local("createGroup", { id: undefined, query: {}, body: group });
  await observed.complete({ max_completion_tokens: 8 }, withKey(await observed.makeKey({ groupId, budgetUsd: "1" })));
  for (const model of [modelId, miniId]) await observed.complete({ model, max_completion_tokens: 8 });
  await observed.refuse({ max_completion_tokens: 1000 });
  await until(
    () => observed.gauge('parley_refusals_total{bound="tokens"}'),
    (count) => count === 1,
  );
  page = await observed.metrics();
});

/** Labels that Prometheus adds to all series, and the bound of a bucket. */
const ofPrometheus = ["instance", "job", "le"];
const labelsOf = (name: string): string[] =>
  (page.match(new RegExp(`^${name}(?:_bucket)?[{ ].*`, "gm")) ?? []).flatMap((line) =>
    [...line.matchAll(/(\w+)="/g)].map(([, label = ""]) => label),
  );

/** Returns the metrics of a query that the server does not have, and the labels that they do not have. */
function missingOf(expr: string): string[] {
  if (expr.startsWith("up{")) return [];
  const names = [...expr.matchAll(/\b(?:parley|process)_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ""));
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(", "));
  const asked = [...grouped, ...[...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = ""]) => label)];
  const wrong = names.flatMap((name) => {
    const known = new Set([...ofPrometheus, ...labelsOf(name)]);
    return asked.filter((label) => !known.has(label)).map((label) => `${name} ${label}`);
  });
  return names.length === 0
    ? ["none is named"]
    : [...names.filter((name) => !page.includes(`# TYPE ${name} `)), ...wrong];
}

/** Runs `promtool`, with a text on its standard input. */
const promtool = (args: readonly string[], input = ""): { readonly status: number | null; readonly said: string } => {
  const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8", input, cwd: deploy });
  return { status, said: stdout + stderr };
};

describe("the board for Grafana", () => {
  test.each(queries)("$title reads metrics and labels that the server has: $expr", ({ expr, legendFormat }) => {
    expect(missingOf(expr)).toEqual([]);
    const grouped = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(", ") ?? ["instance", "model"];
    for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(grouped).toContain(label);
  });

  test("has a place of its own for each panel", () => {
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
    expect(queries.length).toBeGreaterThan(15);
  });
});

describe("an alert rule", () => {
  test.each(rules)("$alert reads metrics and labels that the server has", ({ expr, annotations }) => {
    expect(missingOf(expr)).toEqual([]);
    expect(annotations.summary).toMatch(/^[^\n]{20,160}$/);
  });

  test("has a name of its own", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });
});

test("the guide names every metric that the server has, and no others", () => {
  const guide = readFileSync(join(deploy, "../docs/guides/metrics.md"), "utf8");
  const names = (text: string, pattern: RegExp): string[] =>
    [...new Set([...text.matchAll(pattern)].map(([, name = ""]) => name))].toSorted();
  expect(names(guide, /`(parley_\w+)`/g)).toEqual(names(page, /^# TYPE (parley_\w+)/gm));
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
    const share = await other.gauge(`parley_key_budget_used_ratio{key_id="${id}",budget="month"}`);
    expect(share).toBeCloseTo(Number(entry?.cost_usd) / 0.5, 12);
  });
});

describe("the metrics of groups", () => {
  test("show the spent share of each budget with its raise, of at most 1,000 groups", async () => {
    await using admin = await startAdmin();
    const { server } = admin;
    const create = async (body: { readonly name: string; readonly budget_usd?: string }): Promise<string> =>
      (await admin.local("createGroup", { id: undefined, query: {}, body })).id;
    const id = await create({ name: 'the "first"', budget_usd: "0.5" });
    await create({ name: "without a budget" });
    await create({ name: "nothing", budget_usd: "0" });
    const { usage } = await server.complete({}, withKey(await server.makeKey({ groupId: id })));
    const share = (): Promise<number> =>
      server.gauge(`parley_group_budget_used_ratio{group_id="${id}",group="the \\"first\\""}`);
    expect(await share()).toBeCloseTo(Number(usage.cost_usd) / 0.5, 12);
    const budget_raise = { usd: "0.5", until: "2999-01-31T00:00:00Z" };
    await admin.local("updateGroup", { id, query: {}, body: { budget_raise } });
    expect(await share()).toBeCloseTo(Number(usage.cost_usd), 12);
    const shares = (await server.metrics()).match(/^parley_group_budget_used_ratio\{.*$/gm);
    expect(shares).toHaveLength(2);
    expect(shares?.[1]).toMatch(/group="nothing"\} 1$/);
  });

  test("stop at 1,000 groups, and are absent while the store is away", async () => {
    const registry = new Registry();
    const all = Array.from({ length: 1500 }, (_, index) => ({
      id: `${index}`,
      name: "",
      createdMs: 0,
      budgetUsd: "2",
    }));
    let isAway = false;
    const groupSpentUsd = async (): Promise<string> => (isAway ? Promise.reject(new Error("away")) : "1");
    addGroupMetrics([registry], { groups: { list: async () => all }, ledger: { groupSpentUsd }, nowMs: Date.now });
    const series = async (): Promise<number> =>
      (await registry.metrics()).match(/^parley_group.*\} 0\.5$/gm)?.length ?? 0;
    expect(await series()).toBe(1000);
    isAway = true;
    expect(await series()).toBe(0);
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

  test("finds no fault in the names and helps of the metrics", () => {
    const done = promtool(["check", "metrics"], page);
    expect(done).toMatchObject({ status: 0 });
  });
});
