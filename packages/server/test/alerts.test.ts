import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { until } from "@parley/server/testing";
import { useServer } from "./use-server.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

const file = join(import.meta.dirname, "../../../deploy/alerts.yaml");
const text = readFileSync(file, "utf8");
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const server = useServer({ settings: { tokensPerMinute: 100 } });

/** The page of metrics. It has a line for each series, with its labels if the series has a value. */
const shown = async (): Promise<string> => server().metrics();

describe("an alert rule", () => {
  test.each(rules)("$alert reads metrics that the server has", async ({ expr, annotations }) => {
    const page = await shown();
    const names = [...expr.matchAll(/\b(?:parley|process)_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ""));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(page).toContain(`# TYPE ${name} `);
    expect(annotations.summary).toMatch(/^[^\n]{20,160}$/);
  });

  test("has a name of its own", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });
});

test.skipIf(!hasPromtool)("promtool takes the rules (this needs `promtool` on the PATH)", () => {
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`${rules.length} rules found`);
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
    expect(await server().gauge('parley_queue_wait_seconds_count{weight="1"}')).toBe(1);
  });
});
