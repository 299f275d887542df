import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "sarif";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collect, runProfileOf } from "../mutants/judge.ts";
import { startSubject } from "../mutants/subject.ts";
import { buildReport } from "../src/report/report.ts";
import type { Report } from "../src/report/report.ts";
import { writeReports } from "../src/report/write-reports.ts";
import { assess } from "../src/run/assess.ts";

let folder: string;
let report: Report;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-conformance-formats-"));
  await using subject = await startSubject({
    reply: (reply) => (reply.status === 405 ? { ...reply, status: 404 } : reply),
  });
  const judging = { server: { ...subject, profile: {} }, levels: ["core"] as const };
  const evidence = await collect(judging);
  const profile = { ...runProfileOf(judging), extends: "openai", requirements: "2026-12" } as const;
  const baseline = { known: [{ clause: "HTTP-04", reason: "a proxy does it", expires: "2999-01-01" }] };
  report = buildReport(assess(evidence, profile, { baseline }), evidence, profile, 1, { keyVariable: "K", folder });
  await writeReports(folder, report, { profile, durationMs: 1, evidence }, new Map());
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (name: string): string => readFileSync(join(folder, name), "utf8");

test("SARIF has a rule for each clause that was judged, and a result for each that is broken or open", () => {
  const { version, runs } = JSON.parse(read("report.sarif")) as Log; // the suite wrote it
  expect(version).toBe("2.1.0");
  const [run] = runs;
  const rules = run?.tool.driver.rules ?? [];
  const results = run?.results ?? [];
  expect(rules.map(({ id }) => id)).toEqual(
    report.clauses.filter(({ state }) => state !== "NOT_APPLICABLE").map(({ id }) => id),
  );
  for (const { ruleId, ruleIndex } of results) expect(rules[ruleIndex ?? -1]?.id).toBe(ruleId);
  const of = (id: string) => results.find(({ ruleId }) => ruleId === id);
  expect(of("HTTP-02")).toMatchObject({
    kind: "fail",
    level: "error",
    message: { text: expect.stringMatching(/^Expected status 405.+Found .+/) },
  });
  expect(of("HTTP-04")?.suppressions).toEqual([
    { kind: "external", justification: expect.stringContaining("a proxy does it") },
  ]);
  expect(results.filter(({ kind }) => kind === "open").length).toBe(report.counts.UNTESTABLE ?? 0);
  expect(of("HTTP-01")).toBeUndefined();
});

test("the badge names profile, set and date, and the hash of its report", () => {
  const badge: unknown = JSON.parse(read("badge.json"));
  expect(badge).toMatchObject({
    schemaVersion: 1,
    label: "openai 2026-12",
    message: `not conformant (${report.run.startedAt.slice(0, 10)})`,
    color: "b3261e",
    judged: {
      profile: "openai",
      requirements: "2026-12",
      sha256: createHash("sha256").update(read("report.json")).digest("hex"),
    },
  });
  expect(read("badge.svg")).toContain("openai 2026-12: not conformant");
});
