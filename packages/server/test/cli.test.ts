import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parley } from "@parley/server/testing";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const program = join(root, "packages/server/src/cli/main.mjs");

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-commands-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]) => parley(args, { cwd: folder });

describe("the program", () => {
  test("says its version and that of its contract", async () => {
    const { code, stdout } = await run("--version");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^parley \d+\.\d+\.\d+ \(contract \d/) as string,
    });
  });

  test("keeps what V8 makes of its code for the next time", async () => {
    await run("--version");
    const cached = readdirSync(join(root, "node_modules/.cache/parley"), { recursive: true });
    expect(cached.length).toBeGreaterThan(50);
  });

  test.each([
    [["strat"], "Did you mean start?"],
    [["keys", "lsit"], "Did you mean list?"],
    [["usage", "--sinec", "1d"], "Did you mean --since?"],
  ])("knows what is meant by %j", async (args, suggestion) => {
    const { code, stderr } = await run(...args);
    expect(stderr).toContain(suggestion);
    expect(code).toBe(2);
  });

  test.each([
    ["backup", "", "file"],
    ["keys disable", " ", "key"],
  ])("says which argument of parley %s is %j", async (command, text, name) => {
    const { code, stderr } = await run(...command.split(" "), text);
    expect(stderr).toContain(`error: argument '${name}' is empty`);
    expect(code).toBe(2);
  });

  test("without a command it lists them, and starts nothing", async () => {
    const { code, stdout, stderr } = await run();
    expect(stdout + stderr).toMatch(/Commands:\n {2}start/);
    expect(code).toBe(2);
  });

  test("has flags only where they mean something", async () => {
    const helps = await Promise.all(
      [["keys", "list"], ["usage"], ["backup"], ["stop"]].map((command) => run(...command, "--help")),
    );
    const flags = helps.map(({ stdout }) => stdout.match(/--(vendor|drain-seconds|data-dir|port)\b/g));
    expect(flags.map((found) => [...new Set(found)].toSorted())).toEqual([
      ["--data-dir"],
      ["--data-dir", "--vendor"],
      ["--data-dir"],
      ["--data-dir", "--drain-seconds"],
    ]);
  });

  test("ends quietly when nobody reads any more", async () => {
    // The output is longer than the buffer of a pipe.
    const child = spawn("bash", ["-c", `"$0" "$1" config schema | head -1`, process.execPath, program], {
      cwd: folder,
    });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
    child.stdout.resume();
    await once(child, "close");
    expect(stderr).toBe("");
  });
});

describe("doctor finds what start would refuse:", () => {
  const doctor = (...args: readonly string[]) =>
    run("doctor", "--port", "0", "--metrics-port", "off", "--data-dir", join(folder, "data"), ...args);

  test("nothing, where nothing is wrong", async () => {
    const { code, stdout } = await doctor();
    expect(stdout).toMatch(/data folder +\S+ is made at the first start +none/);
    expect(stdout).toMatch(/vendor\/model-1-mini +.*model-1-mini\.bf16\.gguf, \d+ slots.* +none/);
    expect(code).toBe(0);
  });

  test.each([
    ["a missing GGUF", ["--model-1-gguf", "/nowhere/model.gguf"], /model-1 .*\/nowhere\/model\.gguf is missing/],
    ["a file that is not GGUF", ["--model-1-gguf", program], /main\.mjs is not a GGUF file/],
    ["too little memory for one context", ["--kv-memory-mb", "1"], /one slot does not fit the memory budget/],
    [
      "a script that is missing",
      ["--engine", "scripted", "--script", "/nowhere.json"],
      /\/nowhere\.json cannot be played/,
    ],
    ["a data folder that cannot be made", ["--data-dir", join(program, "data")], /data folder .*cannot be used/],
  ])("%s", async (_what, args, problem) => {
    const { code, stdout } = await doctor(...args);
    expect(stdout).toMatch(problem);
    expect(code).toBe(1);
  });

  test("a data folder of a newer version, which it leaves alone", async () => {
    const dataDir = join(folder, "newer");
    await run("keys", "create", "--name", "first", "--data-dir", dataDir);
    {
      using database = new DatabaseSync(join(dataDir, "parley.db"));
      database.exec("PRAGMA user_version = 1000");
    }
    const { code, stdout } = await doctor("--data-dir", dataDir, "--json");
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ topic: "data folder", problem: expect.stringContaining("newer Parley") as string }),
    );
    expect(code).toBe(1);
  });
});
