import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Report } from "../../src/report/report.ts";
import { completion, json, soundReply, startHttp, startTcp } from "./stub-service.ts";
import type { Reply } from "./stub-service.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-conformance-stranger-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(baseUrl: string, key: string, ...more: readonly string[]) {
  const args = [main, "run", "--base-url", baseUrl, "--api-key-env", "K", ...more];
  const child = spawn(process.execPath, args, { env: { ...process.env, K: key } });
  const said = { out: "", err: "" };
  child.stdout.on("data", (bytes: Buffer) => (said.out += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (said.err += bytes.toString()));
  const ended = new Promise<number | null>((resolve) => void child.on("close", resolve));
  return { child, said, ended };
}

describe("one sentence on standard error, nothing else, and exit 2 for", () => {
  test("a wrong key", async () => {
    await using stub = await startHttp(soundReply(["m"]));
    const { said, ended } = start(`http://127.0.0.1:${stub.port}/v1`, "wrong-key", "--quiet");
    expect(await ended).toBe(2);
    expect(said.out).toBe("");
    expect(said.err.trim().split("\n")).toEqual([expect.stringMatching(/^The service refuses the key in K: .+\.$/)]);
  });

  test("a server that stays silent, after one deadline", async () => {
    await using stub = await startTcp(() => undefined);
    const begunMs = performance.now();
    const { said, ended } = start(`http://127.0.0.1:${stub.port}/v1`, "key-4711", "--timeout", "1");
    expect(await ended).toBe(2);
    expect(said.err).toMatch(/^127\.0\.0\.1:\d+ accepts connections and sent nothing for \d\.\d s/);
    expect(performance.now() - begunMs).toBeLessThan(30_000);
  });

  test.each([
    [
      "a report folder that is a file",
      "--report",
      "taken",
      /--report .+ a file has that name\. Name another folder\.$/,
    ],
    [
      "a report folder that the system refuses",
      "--report",
      "/proc/reports",
      /--report .+ cannot be written \(ENOENT\)/,
    ],
    ["a certificate that is not there", "--ca", "none.pem", /--ca .+ cannot be read/],
    ["a certificate that is not PEM", "--ca", "taken", /--ca .+ has no certificate in PEM/],
  ])("%s, before the first request", async (_title, flag, name, sentence) => {
    await using stub = await startHttp(soundReply(["m"]));
    writeFileSync(join(folder, "taken"), "x");
    const run = start(`http://127.0.0.1:${stub.port}/v1`, "right-key-4711", flag, resolve(folder, name));
    expect(await run.ended).toBe(2);
    expect(run.said.err.trim()).toMatch(sentence);
    expect(stub.requests).toEqual([]);
  });
});

/** Answers the listing and the first chat, and keeps every later request waiting. */
function slowAfterTheFirst(): Reply {
  let count = 0;
  return (request, response) => {
    count += 1;
    if (request.method === "GET") return json(response, 200, { data: [{ id: "m" }] });
    if (count === 2) json(response, 200, completion);
  };
}

const until = async (isDone: () => boolean): Promise<void> => {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 20));
};

describe("an interrupt", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("by %s reports what is known and exits with 130", async (signal) => {
    await using stub = await startHttp(slowAfterTheFirst());
    const reports = join(folder, signal);
    const { child, said, ended } = start(`http://127.0.0.1:${stub.port}/v1`, "key-4711", "--report", reports);
    await until(() => stub.requests.length > 2);
    child.kill(signal);
    expect(await ended).toBe(130);
    expect(said.err).toContain("Interrupted");
    expect(said.out).toContain("the run was interrupted");
    expect(readdirSync(reports)).toContain("report.html");
    const report = JSON.parse(readFileSync(join(reports, "report.json"), "utf8")) as Report; // the suite wrote it
    expect(report.verdict).not.toBe("conformant");
    expect(report.run.isInterrupted).toBe(true);
    const open = report.clauses.filter(({ note }) => note.includes("the run was interrupted"));
    expect(open.length).toBeGreaterThan(50);
    // A request that was cut off says nothing about the server.
    expect(report.clauses.filter(({ actual }) => /aborted|timeout after/.test(actual ?? ""))).toEqual([]);
  });

  test("that comes twice ends at once", async () => {
    await using stub = await startHttp(slowAfterTheFirst());
    const { child, ended } = start(`http://127.0.0.1:${stub.port}/v1`, "key-4711");
    await until(() => stub.requests.length > 2);
    child.kill("SIGINT");
    child.kill("SIGTERM");
    expect(await ended).toBe(130);
  });
});
