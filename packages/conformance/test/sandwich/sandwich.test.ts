import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildSandwichReport } from "../../src/sandwich/report.ts";
import type { SandwichReport } from "../../src/sandwich/report.ts";
import { runSandwich, sandwichNames } from "../../src/sandwich/sandwich.ts";
import { startUpstream } from "../../src/sandwich/upstream.ts";
import type { Upstream } from "../../src/sandwich/upstream.ts";
import { answer, answerFaults, connectionFaults, editJson, replace, requestFaults, streamFaults } from "./faults.ts";
import { startToyGateway } from "./toy-gateway.ts";
import type { Fault } from "./toy-gateway.ts";

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream({ host: "127.0.0.1", port: 0, model: "toy" });
});
afterAll(() => upstream[Symbol.asyncDispose]());

interface Options {
  readonly names?: readonly string[];
  readonly allowed?: readonly string[];
  readonly upstreamModel?: string;
}

async function judge(fault: Fault, options: Options = {}): Promise<SandwichReport> {
  await using gateway = await startToyGateway(upstream.baseUrl, fault);
  const ran = await runSandwich(upstream, {
    profile: { origin: new URL(gateway.baseUrl).origin, basePath: "/v1", extraHeaders: [] },
    secrets: new Map([["key", "caller-Vr7Qz2Lk9Xw4"]]),
    model: "toy",
    upstreamModel: options.upstreamModel,
    deadlineMs: 10_000,
    startMs: 0,
    names: options.names ?? sandwichNames,
  });
  const facts = { baseUrl: gateway.baseUrl, startedAt: "", durationMs: 0, isStrict: false };
  return buildSandwichReport(ran, { ...facts, allowed: options.allowed ?? [] });
}

const placesOf = ({ findings }: SandwichReport, isNote = false): string[] =>
  findings.filter((one) => one.isNote === isNote).map(({ class: kind, side, at }) => `${kind} ${side} ${at}`);

test("a gateway that copies everything has no findings, and one note: the caller's key reaches the upstream", async () => {
  const report = await judge({});
  expect(placesOf(report)).toEqual([]);
  expect(placesOf(report, true)).toEqual(["invented request header authorization"]); // it passes the caller's key on
  expect(report.exitCode).toBe(0);
  expect(report.cases.map(({ name }) => name).toSorted()).toEqual([...sandwichNames].toSorted());
}, 60_000);

describe.each([
  ["requests", requestFaults],
  ["answers", answerFaults],
  ["streams", streamFaults],
  ["connections", connectionFaults],
] as const)("a fault in %s", (_kind, rows) => {
  test.each(rows)("%s: %s", async (_title, found, name, fault) => {
    const report = await judge(fault, { names: [name] });
    expect(placesOf(report)).toContain(found);
    expect(report.exitCode).toBe(1);
  });
});

test("the model that the upstream has to be asked for is judged if it is known", async () => {
  const rename: Fault = { request: replace(/"model":"toy"/g, '"model":"other"') };
  expect(placesOf(await judge(rename, { names: ["max-tokens"] }))).toEqual([]);
  expect(placesOf(await judge(rename, { names: ["max-tokens"], upstreamModel: "other" }))).toEqual([]);
  const wrong = await judge(rename, { names: ["max-tokens"], upstreamModel: "third" });
  expect(placesOf(wrong)).toEqual(["changed request /model"]);
});

test("an allowed difference is counted and does not fail, and a dropped tracing header is a note", async () => {
  const fault: Fault = { ...answer(editJson((body) => (body["id"] = "own"))), droppedHeaders: ["traceparent"] };
  const report = await judge(fault, { names: ["whole-answer", "tracing-headers"], allowed: ["id"] });
  expect(report).toMatchObject({ exitCode: 0, counts: { changed: 0, notes: 2, allowed: 2 } });
  expect(placesOf(report, true)).toEqual(["invented request header authorization", "lost request header traceparent"]);
});

test("a gateway that does not use the upstream is not judged", async () => {
  await expect(judge({ answersItself: () => true })).rejects.toThrow(/No request reached the upstream at http.*404/s);
});

test("a gateway that pauses after an error is waited for, and the pause is a note", async () => {
  const report = await judge({ pauseAfterErrorMs: 1500 }, { names: ["error-500", "error-401"] });
  expect(report.exitCode).toBe(0);
  expect(report.findings.map(({ says }) => says)).toEqual([
    "After error-500 the gateway refused requests for about 2 s without asking the upstream.",
  ]);
});

describe("the command", () => {
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const run = (...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> =>
    new Promise((resolve) => {
      const env = { ...process.env, API_KEY: "caller-Vr7Qz2Lk9Xw4" };
      execFile(process.execPath, [main, "sandwich", ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr }),
      );
    });

  test("exits with 0 or 1 by its findings, and writes them without the key", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-sandwich-"));
    const port = await freePort();
    await using gateway = await startToyGateway(
      `http://127.0.0.1:${port}/v1`,
      answer(editJson((body) => delete body["id"])),
    );
    const flags = ["--base-url", gateway.baseUrl, "--upstream-port", String(port), "--report", folder];
    const found = await run(...flags, "--only", "delicate-answer,max-tokens");
    expect(found).toMatchObject({ code: 1, text: expect.stringMatching(/^LOST\n {2}answer: \/id {2}/m) });
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(files.join("")).toContain('"lost": 1');
    expect([found.text, ...files].filter((text) => text.includes("Vr7Qz2Lk9Xw4"))).toEqual([]);
    expect((await run(...flags, "--only", "delicate-answer", "--allow", "id")).code).toBe(0);
    rmSync(folder, { recursive: true });
  });

  test("exits with 2 for wrong usage, and for a gateway that is not there", async () => {
    const port = String(await freePort());
    const gone = await run("--base-url", "http://127.0.0.1:9/v1", "--upstream-port", port, "--wait", "0");
    expect(gone).toMatchObject({ code: 2, text: expect.stringContaining("No request reached the upstream") });
    expect((await run("--base-url", "http://127.0.0.1:9/v1", "--only", "no-such-case")).code).toBe(2);
    expect((await run("--list")).text.trim().split("\n")).toHaveLength(sandwichNames.length);
  });
});

async function freePort(): Promise<number> {
  await using other = await startUpstream({ host: "127.0.0.1", port: 0, model: "toy" });
  return Number(new URL(other.baseUrl).port);
}
