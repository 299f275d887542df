import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parseTree } from "jsonc-parser";
import { pythonJson } from "../read-case.ts";
import { quantile } from "../report.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

const cases = {
  "Good---1": {
    schema: { type: "integer" },
    tests: [
      { data: 1, valid: true },
      { data: "1", valid: false },
    ],
  },
  "Good---2": { schema: { type: "boolean" }, tests: [{ data: 1, valid: true }] },
  "Good---3": {
    schema: { properties: { a: true, b: true } },
    tests: [{ data: { b: 1, a: 2 }, valid: true }],
  },
  Bad_1: { schema: { type: "boolean" }, tests: [{ data: true, valid: false }] },
  Bad_2: { schema: { type: "nothing" }, tests: [] },
};

test("every schema gets its verdict, in a file and in a table by data set", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-schemas-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [id, one] of Object.entries(cases)) await writeFile(join(folder, `${id}.json`), JSON.stringify(one));
  const out = join(folder, "results.jsonl");
  const { stdout } = await promisify(execFile)(process.execPath, [main, "--data", folder, "--out", out]);
  const results = (await readFile(out, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  expect(results).toEqual([
    expect.objectContaining({ id: "Bad_1", dataSet: "Bad", verdict: "invalid accepted", wrong: [0] }),
    expect.objectContaining({ id: "Bad_2", verdict: "refused", keyword: "type", path: "type" }),
    expect.objectContaining({ id: "Good---1", dataSet: "Good", verdict: "pass", wrong: [] }),
    expect.objectContaining({ id: "Good---2", verdict: "valid rejected", wrong: [0] }),
    expect.objectContaining({ id: "Good---3", verdict: "other order", wrong: [0] }),
  ]);
  expect(stdout).toContain("| Good | 3 | 1 | 0 | 1 | 1 | 0 | 0 | 0 | 33.3 % |");
  expect(stdout).toContain("| Bad | 2 | 0 | 1 | 0 | 0 | 1 | 0 | 0 | 0.0 % |");
  expect(stdout).toContain("| all | 5 | 1 | 1 | 1 | 1 | 1 | 0 | 0 | 20.0 % |");
});

test("result files are compared over the schemas that all of them have", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-schemas-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const write = (name: string, verdicts: Readonly<Record<string, string>>): Promise<void> => {
    const results = Object.entries(verdicts).map(([id, verdict]) => JSON.stringify({ id, verdict, compileMs: 2 }));
    return writeFile(join(folder, `${name}.jsonl`), `${results.join("\n")}\n`);
  };
  await write("ours", { a: "pass", b: "other order", c: "refused", e: "pass" });
  await write("theirs", { a: "pass", b: "pass", c: "invalid accepted", d: "late" });
  const files = ["ours", "theirs"].map((name) => join(folder, `${name}.jsonl`));
  const { stdout } = await promisify(execFile)(process.execPath, [main, "--beside", ...files]);
  expect(stdout).toContain("| ours | 3 | 1 (33.3 %) | 1 | 1 | 0 | 0 | 2.0 | 2.0 |");
  expect(stdout).toContain("| theirs | 3 | 2 (66.7 %) | 0 | 0 | 1 | 0 | 2.0 | 2.0 |");
});

test("without a folder of data nothing is judged", async () => {
  const judged = promisify(execFile)(process.execPath, [main]);
  await expect(judged).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("--data") });
});

test("the compiler alone is timed, without a matcher", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-schemas-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [id, one] of Object.entries(cases)) await writeFile(join(folder, `${id}.json`), JSON.stringify(one));
  const { stdout } = await promisify(execFile)(process.execPath, [main, "--data", folder, "--compile"]);
  expect(stdout).toContain("| accepted, by the clock | 4 |");
  expect(stdout).toContain("| all, CPU time of the thread | 5 |");
});

test.each([
  [String.raw`{"2":1,"1":[true,null,"\u00e9\n"],"2":3}`, String.raw`{"2": 3, "1": [true, null, "é\n"]}`],
  ["[1.0,-0,-0.0,1E5,123456789012345678901]", "[1.0, 0, -0.0, 100000.0, 123456789012345678901]"],
  ["[0.0001,0.00001,1.5e-7,1e15,1e16,1e300]", "[0.0001, 1e-05, 1.5e-07, 1000000000000000.0, 1e+16, 1e+300]"],
])("an instance is written as Python writes it: %s", (text, want) => {
  const tree = parseTree(text);
  expect(tree && pythonJson(tree, text)).toBe(want);
});

test("a quantile is one of the values", () => {
  expect([0.5, 0.99, 1].map((share) => quantile([4, 1, 3, 2], share))).toEqual([2, 4, 4]);
});
