import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { matrixFile, nameInReport, readReport, toMatrix } from "../../sdks/matrix.ts";
import { sdks } from "../../sdks/sdks.ts";
import { AdapterProcess } from "../../src/client-mode/adapter-process.ts";
import { clientClauses } from "../../src/client-mode/clauses/index.ts";
import { AdapterError, judgeClient } from "../../src/client-mode/judge-client.ts";
import type { ClauseResult } from "../../src/client-mode/judge-client.ts";
import type { ClientReport } from "../../src/client-mode/report.ts";

const pathTo = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const main = pathTo("../../src/cli/main.ts");

interface Ended {
  readonly code: number;
  readonly text: string;
}

const cli = (...args: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, "client", ...args], { cwd: tmpdir() }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), text: stdout + stderr });
    });
  });

/** An adapter for the shell that answers the two plain tasks, and others with this expression. */
const scriptOf = (expression: string): string => `
  require("node:readline").createInterface({ input: process.stdin }).on("line", async (line) => {
    const { task, baseUrl, call, apiKey } = JSON.parse(line);
    const isPlain = task.startsWith("preflight");
    const init = { method: "POST", body: JSON.stringify({ stream: call === "stream" }) };
    const body = await (await fetch(baseUrl + "/chat/completions", init)).text();
    const text = [...body.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join("");
    const sound = () => console.log(JSON.stringify({ task, text, finishReason: "stop" }));
    if (isPlain) sound();
    else ${expression};
  });`;

const judgeScript = async (expression: string, only: string, more: object = {}): Promise<ClauseResult | undefined> => {
  const command = `"${process.execPath}" -e '${scriptOf(expression)}'`;
  const limits = { startLimitMs: 20_000, maxLimitMs: 1500 };
  const openAdapter = (): AdapterProcess => new AdapterProcess(command);
  return (await judgeClient({ openAdapter, jobs: 1, only: [only], ...limits, ...more }))[0];
};

describe.concurrent("an adapter that", () => {
  test("ends after each answer is started again", async () => {
    const result = await judgeScript("{ sound(); setTimeout(() => process.exit(), 50); }", "CLNT-13");
    expect(result?.cases.map(({ state }) => state)).toEqual(["PASS", "PASS"]);
  });

  test("prints other lines is understood", async () => {
    const result = await judgeScript('{ console.log("Hello {}"); console.log("{\\"task\\":1}"); sound(); }', "CLNT-10");
    expect(result?.state).toBe("PASS");
  });

  test("hangs is ended, and breaks the clause", async () => {
    const result = await judgeScript("0", "CLNT-13");
    expect(result?.cases.map(({ actual }) => actual)).toEqual([
      "hangs: nothing within 1.5 s of the first of 1 request",
      "hangs: nothing within 1.5 s of the first of 1 request",
    ]);
  });

  test("ends without an answer breaks the clause", async () => {
    const result = await judgeScript(
      '{ console.error("Oh no"); process.exitCode = 3; process.stdin.destroy(); }',
      "CLNT-10",
    );
    expect(result?.cases[0]?.actual).toBe("the adapter's process ended with exit code 3: Oh no");
  });

  test("sends an answer of another shape leaves the clause open", async () => {
    const result = await judgeScript("console.log(JSON.stringify({ task, text: 7 }))", "CLNT-10");
    expect(result).toMatchObject({
      state: "UNTESTABLE",
      cases: [{ note: expect.stringContaining("text must be string") as unknown }],
    });
  });

  test("does not support a task makes its clause not applicable", async () => {
    const result = await judgeScript('console.log(JSON.stringify({ task, unsupported: "no choices" }))', "CLNT-17");
    expect(result).toMatchObject({ state: "NOT_APPLICABLE", cases: [{ note: "no choices" }] });
  });

  test("prints the key breaks CLNT-42", async () => {
    const result = await judgeScript("{ console.error(apiKey); sound(); }", "CLNT-42");
    expect(result?.cases.map(({ name, state }) => [name, state])).toContainEqual(["all output of the run", "FAIL"]);
  });

  test("cannot make a plain call ends the run with its last words", async () => {
    const openAdapter = (): AdapterProcess => new AdapterProcess("echo broken >&2; exit 7");
    const run = judgeClient({ openAdapter, jobs: 1, startLimitMs: 10_000 });
    await expect(run).rejects.toThrow(AdapterError);
    await expect(run).rejects.toThrow(/exit code 7: broken/);
  });
});

describe("the command", () => {
  test("judges openai-node: it takes a web page for an answer, and keeps every other MUST", async () => {
    const adapter = `"${process.execPath}" "${pathTo("../../sdks/typescript/openai.mjs")}"`;
    // Silence in a stream hangs openai-node, which takes the whole limit.
    await using folder = await mkdtempDisposable(join(tmpdir(), "parley-client-mode-"));
    const reports = join(folder.path, "reports");
    const { code } = await cli("--adapter", adapter, "--jobs", "6", "--skip", "CLNT-41", "--report", reports);
    expect(code).toBe(1);
    const report = JSON.parse(readFileSync(join(reports, "client.json"), "utf8")) as ClientReport; // it was just written
    expect(report.counts).toEqual({ PASS: clientClauses.length - 2, FAIL: 1 });
    expect(report.clauses.find(({ state }) => state === "FAIL")).toMatchObject({
      id: "CLNT-26",
      cases: [{ name: "page, create", state: "FAIL" }],
    });
  });

  test("judges our client: it keeps every clause", async () => {
    const [script, source] = ["../../sdks/typescript/parley.mjs", "../../../client/src/index.ts"].map(pathTo);
    const { code, text } = await cli(
      "--adapter",
      `"${process.execPath}" "${script}" "${source}"`,
      "--jobs",
      "6",
      "--strict",
    );
    expect(text).toMatch(new RegExp(`\\(${clientClauses.length} PASS;`));
    expect(code).toBe(0);
  });

  test("exits with 1 if a MUST is broken, and with 3 if nothing was judged", async () => {
    const adapter = (expression: string): string => `"${process.execPath}" -e '${scriptOf(expression)}'`;
    const broken = await cli("--adapter", adapter("console.log(JSON.stringify({ task }))"), "--only", "CLNT-10");
    expect(broken.text).toMatch(/^FAIL CLNT-10 [^]+expected [^]+actual [^]+why [^]+comply /m);
    expect(broken.code).toBe(1);
    const open = await cli(
      "--adapter",
      adapter('console.log(JSON.stringify({ task, unsupported: "x" }))'),
      "--only",
      "clnt-17",
    );
    expect(open.code).toBe(3);
  });

  test("exits with 2 for wrong usage and for an adapter that cannot start", async () => {
    const wrong = await Promise.all([cli(), cli("--adapter", "true", "--only", "CLNT-99"), cli("--adapter", "exit 1")]);
    expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(wrong.map(({ text }) => text).join()).toContain("There is no clause CLNT-99");
  });

  test("lists the clauses", async () => {
    const { text } = await cli("--list", "--json");
    expect(JSON.parse(text)).toHaveLength(clientClauses.length);
  });
});

test("ids of clauses are unique and in order", () => {
  const ids = clientClauses.map((_, at) => `CLNT-${String(at + 1).padStart(2, "0")}`);
  expect(clientClauses.map(({ id }) => id)).toEqual(ids);
});

test("the schema of the messages is valid, and accepts a task", () => {
  const schema = JSON.parse(readFileSync(pathTo("../../adapter.schema.json"), "utf8")) as {
    readonly $defs: { readonly task: object };
  }; // it is in this package
  const facts = {
    task: "x",
    baseUrl: "http://127.0.0.1/v1",
    apiKey: "k",
    call: "create",
    model: "m",
    maxRetries: 0,
    timeoutMs: 1,
  };
  const validate = new Ajv2020({ strict: false }).compile(schema.$defs.task);
  expect(validate({ ...facts, messages: [{ role: "user", content: "x" }] })).toBe(true);
  expect(validate(facts)).toBe(false);
});

test("every SDK of the table has a result in its version, for every clause, and the page shows them", () => {
  const facts = sdks.map((sdk) => [readReport(sdk)?.sdk, readReport(sdk)?.clauses.map(({ id }) => id)]);
  expect(facts).toEqual(sdks.map((sdk) => [nameInReport(sdk), clientClauses.map(({ id }) => id)]));
  expect(readFileSync(matrixFile, "utf8"), "run: pnpm sdks").toBe(toMatrix());
});
