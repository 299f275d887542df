import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Subject } from "../mutants/judge.ts";
import type { Baseline } from "../src/run/baseline.ts";
import { ordinaryServer } from "../mutants/ordinary-server.ts";
import { startSubject } from "../mutants/subject.ts";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const schema = JSON.parse(readFileSync(new URL("../report.schema.json", import.meta.url), "utf8")) as object; // it is in this repository

interface Outcome {
  readonly code: number;
  readonly text: string;
}

const cli = (args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = tmpdir()): Promise<Outcome> =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env: { ...process.env, ...env }, cwd }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr });
    });
  });

let folder: string;
let good: Subject & AsyncDisposable;
let key: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-conformance-cli-"));
  good = await startSubject();
  key = good.secrets.get("key") ?? "";
});
afterAll(async () => {
  await good[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const runOf = (server: Subject, ...more: readonly string[]): Promise<Outcome> =>
  cli(
    ["run", "--base-url", server.baseUrl, "--api-key-env", "CONFORMANCE_KEY", "--model-is", "greedy,guided", ...more],
    { CONFORMANCE_KEY: key },
  );

describe("run", () => {
  test("exits with 0 if everything claimed is kept, writes every report, and leaves the key out of them", async () => {
    const reports = join(folder, "good");
    const { code, text } = await runOf(good, "--report", reports, "--header", "X-Extra: Sesame-Zx81Kq");
    expect(text).toContain("conformant");
    expect(code).toBe(0);
    const names = [
      "badge.json",
      "badge.svg",
      "junit.xml",
      "recording.json",
      "report.html",
      "report.json",
      "report.md",
      "report.sarif",
    ];
    expect(readdirSync(reports).toSorted()).toEqual(names);
    const all = [text, ...names.map((name) => readFileSync(join(reports, name), "utf8"))];
    for (const secret of [key, "Sesame-Zx81Kq"]) expect(all.filter((one) => one.includes(secret))).toEqual([]);
    const report: unknown = JSON.parse(readFileSync(join(reports, "report.json"), "utf8"));
    const ajv = new Ajv2020();
    ajv.validate(schema, report);
    expect(ajv.errors ?? []).toEqual([]);
  });

  test("exits with 1 and a line that begins with FAIL, expected and actual, and a curl without the key", async () => {
    await using bad = await startSubject({
      reply: (reply) => (reply.status === 405 ? { ...reply, status: 404 } : reply),
    });
    const { code, text } = await runOf(bad, "--verbose");
    expect(code).toBe(1);
    expect(text).toMatch(/^FAIL HTTP-02 {2}.+\n +expected .+\n +actual .+\n +exchange .+\n +curl /m);
    expect(text).not.toContain(key);
  });

  test("masks a key that the server echoes, and fails for it", async () => {
    await using bad = await startSubject({
      reply: (reply, head) => ({
        ...reply,
        headers: { ...reply.headers, "x-echo": head.headers["authorization"] ?? "" },
      }),
    });
    const reports = join(folder, "echo");
    const { code, text } = await runOf(bad, "--report", reports);
    expect(code).toBe(1);
    expect(text).toContain("FAIL AUTH-10");
    const all = [text, ...readdirSync(reports).map((name) => readFileSync(join(reports, name), "utf8"))];
    expect(all.filter((one) => one.includes(key))).toEqual([]);
  });

  test("exits with 0 if all that could be judged is kept, lists the rest, and with --require-all exits with 3", async () => {
    const { code, text } = await runOf(good, "--level", "limits");
    expect(code).toBe(0);
    expect(text).toContain("UNTESTABLE LIM-07");
    expect((await runOf(good, "--level", "limits", "--require-all")).code).toBe(3);
  });

  test("exits with 3 and never says usable if the bound on the cost ends it early", async () => {
    const { code, text } = await runOf(good, "--max-cost", "0.000001");
    expect(code).toBe(3);
    expect(text).toContain("For mainstream SDKs: inconclusive");
  });

  test("exits with 3 if nothing was judged", async () => {
    expect((await runOf(good, "--only", "LIM-07", "--level", "limits")).code).toBe(3);
    expect((await runOf(good, "--only", "TOOL")).code).toBe(3);
  });

  test("exits with 2 for wrong usage and for an unreachable service", async () => {
    expect((await cli(["run", "--base-url", "http://127.0.0.1:9/v1", "--api-key-env", "NO_SUCH_KEY"])).code).toBe(2);
    expect(
      (await cli(["run", "--base-url", "http://127.0.0.1:9/v1", "--api-key-env", "K"], { K: "some-key-123" })).code,
    ).toBe(2);
    expect((await cli(["run", "--level", "everything"])).code).toBe(2);
  });

  test("allows the failures of a baseline until they expire, and fails for a stale one", async () => {
    await using bad = await startSubject({
      reply: (reply) => ({
        ...reply,
        headers: Object.fromEntries(Object.entries(reply.headers).filter(([name]) => name !== "www-authenticate")),
      }),
    });
    const baseline = (expires: string, clause = "AUTH-08"): string => {
      const file = join(folder, `${clause}-${expires}.json`);
      writeFileSync(file, JSON.stringify({ known: [{ clause, reason: "a proxy takes it away", expires }] }));
      return file;
    };
    expect((await runOf(bad, "--baseline", baseline("2999-01-01"))).code).toBe(0);
    expect((await runOf(bad, "--baseline", baseline("2020-01-01"))).code).toBe(2);
    const stale = await runOf(good, "--baseline", baseline("2999-01-01"));
    expect(stale.code).toBe(1);
    expect(stale.text).toContain("XPASS AUTH-08");
  });

  test("writes a baseline of today's failures, with which it exits with 0 until one of them passes again", async () => {
    await using bad = await startSubject({
      reply: (reply) => ({ ...reply, status: reply.status === 405 ? 404 : reply.status }),
    });
    const file = join(folder, "written.json");
    const first = await runOf(bad, "--level", "core", "--write-baseline", file);
    expect(first.text).toContain("known failures");
    expect(first.code).toBe(0);
    const { known } = JSON.parse(readFileSync(file, "utf8")) as Baseline; // the run wrote it
    expect(known.map(({ clause }) => clause)).toContain("HTTP-02");
    expect((await runOf(bad, "--level", "core", "--baseline", file)).code).toBe(0);
    const stale = await runOf(good, "--level", "core", "--baseline", file);
    expect(stale.code).toBe(1);
    expect(stale.text).toContain("XPASS HTTP-03");
  });

  test("judges the tier keyless without a key, and says nothing about SDKs", async () => {
    const { code, text } = await cli([
      "run",
      "--base-url",
      good.baseUrl,
      "--api-key-env",
      "NO_KEY",
      "--tier",
      "keyless",
    ]);
    expect(code).toBe(0);
    expect(text).toMatch(/1\d PASS, \d UNTESTABLE/);
    expect(text).toContain("cost: about 0 US dollars");
    expect(text).toContain("For mainstream SDKs: inconclusive");
  });

  test("says why nothing answers the tier keyless", async () => {
    // Port 9 is not used on loopback.
    const { code, text } = await cli(["run", "--base-url", "http://127.0.0.1:9/v1", "--tier", "keyless"]);
    expect(code).toBe(2);
    expect(text).toContain("Nothing listens on 127.0.0.1:9 (connection refused): start the service");
  });

  test("fails a server in the tier keyless that lets strangers in", async () => {
    await using open = await startSubject({ acceptsKey: () => true });
    const { code, text } = await cli([
      "run",
      "--base-url",
      open.baseUrl,
      "--api-key-env",
      "NO_KEY",
      "--tier",
      "keyless",
    ]);
    expect(code).toBe(1);
    expect(text).toContain("AUTH-01");
  });

  test("tells requests, tokens and the exact cost before it begins, and reads only the listing in a dry run", async () => {
    const line = /\d+ requests, about \d+ prompt tokens and \d+ output tokens; cost: about 0\.\d+ US dollars\./;
    const { code, text } = await runOf(good, "--dry-run");
    expect(code).toBe(0);
    expect(text.match(new RegExp(line, "g"))).toHaveLength(3);
    expect((await runOf(good, "--only", "AUTH")).text).toMatch(line);
  });

  test("exits with 2 before the first chat request if the cost is bounded and the listing has no prices", async () => {
    await using free = await startSubject(ordinaryServer);
    const { code, text } = await runOf(free, "--max-cost", "1");
    expect(code).toBe(2);
    expect(text.trim()).toMatch(/^--max-cost cannot be kept, because the listing has no prices of the model/);
  });

  test("sends nothing in a dry run", async () => {
    const { code, text } = await cli(
      ["run", "--base-url", "http://127.0.0.1:9/v1", "--api-key-env", "K", "--dry-run"],
      { K: "some-key-123" },
    );
    expect(code).toBe(0);
    expect(text).toContain("nothing was sent");
  });
});

test("replay judges a recording again, and compare sets reports side by side", async () => {
  const reports = join(folder, "replayed");
  await runOf(good, "--report", reports);
  const { code, text } = await cli(["replay", join(reports, "recording.json")]);
  expect(text).toContain("conformant");
  expect(code).toBe(0);
  const compared = await cli(["compare", join(reports, "report.json"), join(reports, "report.json")]);
  expect(compared.text).toMatch(/\| STRM-14 \| stream \| ✓ \| ✓ \|/);
});

test("explain describes a clause, and list has them all", async () => {
  const { text } = await cli(["explain", "strm-04"]);
  for (const words of ["Why it matters", "How it is checked", "How to comply", "curl "]) expect(text).toContain(words);
  expect((await cli(["explain", "NONE-99"])).code).toBe(2);
  expect((await cli(["list"])).text.trim().split("\n")).toHaveLength(351);
});

test("init writes a conformance profile that run reads", async () => {
  const { code } = await cli(["init"], {}, folder);
  expect(code).toBe(0);
  const profile = join(folder, "conformance.json");
  const { text } = await cli(
    ["run", "--base-url", good.baseUrl, "--api-key-env", "K", "--profile", profile, "--dry-run"],
    { K: key },
  );
  expect(text).toContain("nothing else was sent");
});
