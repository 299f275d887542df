import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, copyFileSync, readFileSync, readdirSync, statSync } from "node:fs";
import { truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { modelShortcuts } from "../src/config/default-models.ts";
import { settingNames, settings as rows } from "../src/config/settings.ts";
import { areStoresShared, CliProcess, chatInit, parley } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "./use-folder.ts";

const models = fileURLToPath(new URL("../../../demo-models", import.meta.url));
const modelFile = join(models, "model-1-mini", "model-1-mini.bf16.gguf");

const folder = useFolder();

async function runShell(command: string): Promise<string> {
  const shell = spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  shell.stdout.on("data", (chunk: Buffer) => (out += chunk.toString("utf8")));
  await once(shell, "close");
  return out;
}

describe("the first start", () => {
  test("serves both real models, and prints a command that works when pasted", async () => {
    const dataDir = folder.fresh();
    await using server = new CliProcess(["start", "--port", "0", "--metrics-port", "0"], {
      cwd: folder.path(),
      env: { PARLEY_DATA_DIR: dataDir },
    });
    const [command = ""] = await server.says(/curl [^\n]*\\\n[^\n]*\\\n[^\n]*/);
    for (const line of [
      "Parley is starting.",
      "vendor/model-1:",
      "vendor/model-1-mini:",
      "Docs ",
      "Metrics ",
      "keys create",
    ])
      expect(server.stderr).toContain(line);
    expect(server.stderr).toMatch(/demonstration/);
    const answer = JSON.parse(await runShell(command)) as { object: string; usage: { completion_tokens: number } };
    expect(answer).toMatchObject({ object: "chat.completion", choices: [{ message: { role: "assistant" } }] });
    expect(answer.usage.completion_tokens).toBeGreaterThan(0);
    const file = readdirSync(dataDir).find((name) => name.startsWith("key-")) ?? "";
    expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    const key = readFileSync(join(dataDir, file), "utf8").trim();
    expect(server.stderr + server.stdout).not.toContain(key);
    expect(
      (await fetch(`${await baseUrlOf(server)}/models`, { headers: { authorization: `Bearer ${key}` } })).status,
    ).toBe(200);
  });

  test("a second start on the same data makes no other key", async () => {
    const settings = folder.quick();
    for (const expected of [/Key\s+in /, /Key\s+one of those made before/]) {
      await using server = new CliProcess(["start"], settings);
      await server.says(expected);
      server.child.kill("SIGTERM");
      expect((await server.result()).code).toBe(0);
    }
  });

  test("a key from the environment is admitted and stored nowhere", async () => {
    const key = "environment-key-0123456789";
    const settings = folder.quick({ PARLEY_API_KEY: key });
    await using server = new CliProcess(["start"], settings);
    const headers = { authorization: `Bearer ${key}` };
    const url = `${await baseUrlOf(server)}/chat/completions`;
    expect((await fetch(url, chatInit({}, { headers }))).status).toBe(200);
    server.child.kill("SIGTERM");
    await server.result();
    for (const name of readdirSync(settings.env.PARLEY_DATA_DIR)) {
      expect(readFileSync(join(settings.env.PARLEY_DATA_DIR, name)).includes(key)).toBe(false);
    }
    expect(server.stdout + server.stderr).not.toContain(key);
  });

  test("says that a stub is a stub, and that an open address has no TLS", async () => {
    await using server = new CliProcess(["start", "--host", "0.0.0.0"], folder.quick());
    await baseUrlOf(server);
    expect(server.stderr).toContain("it is a stub");
    expect(server.stderr).toMatch(/Warning: .* without TLS/);
  });
});

describe("an obstacle to a start is reported in one sentence that says what to do", () => {
  const assertFails = async (
    settings: ReturnType<typeof folder.quick>,
    sentence: RegExp,
    args: readonly string[] = [],
  ) => {
    const { code, stderr } = await parley(["start", ...args], settings);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(code).toBe(1);
  };

  test("a port in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo; // it listens on TCP
    await assertFails(folder.quick(), new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use\\. .*PORT`), [
      "--port",
      String(port),
    ]);
    await assertFails(folder.quick({ PARLEY_METRICS_PORT: String(port) }), /is in use\. .*PARLEY_METRICS_PORT/);
    other.close();
  });

  test("a data folder that cannot be written", async () => {
    const file = join(folder.path(), "a-file");
    writeFileSync(file, "");
    await assertFails(
      folder.quick({ PARLEY_DATA_DIR: join(file, "data") }),
      /data folder .* cannot be used: .*PARLEY_DATA_DIR/,
    );
    await assertFails(
      folder.quick({ PARLEY_DATA_DIR: "/proc/parley/data" }),
      /data folder \/proc\/parley\/data cannot be used: .*PARLEY_DATA_DIR/,
    );
  });

  test.skipIf(areStoresShared)("a database that is none, and one of a newer version", async () => {
    const settings = folder.quick();
    await using server = new CliProcess(["start"], settings);
    await baseUrlOf(server);
    server.child.kill("SIGTERM");
    await server.result();
    const file = join(settings.env.PARLEY_DATA_DIR, "parley.db");
    const { DatabaseSync } = await import("node:sqlite");
    {
      using database = new DatabaseSync(file);
      database.exec("PRAGMA user_version = 1000");
    }
    await assertFails(settings, /newer Parley \(schema 1000/);
    writeFileSync(file, "this is not a database ".repeat(100));
    await assertFails(settings, /cannot be used: .*database/);
  });

  test("a second server on the same data", async () => {
    const settings = folder.quick();
    await using server = new CliProcess(["start"], settings);
    await baseUrlOf(server);
    await assertFails(settings, new RegExp(`Another Parley server \\(process ${server.child.pid}\\)`));
  });

  test("a model file that is missing, of another format, truncated, or changed", async () => {
    const embedded = (path: string) =>
      folder.quick({ PARLEY_ENGINE: "embedded", PARLEY_MODEL_1_GGUF: path, PARLEY_MODEL_1_MINI_GGUF: path });
    await assertFails(embedded(join(folder.path(), "nowhere.gguf")), /nowhere\.gguf/);
    const other = join(folder.path(), "other.gguf");
    writeFileSync(other, "PK\u0003\u0004 this is something else");
    await assertFails(embedded(other), /other\.gguf.*GGUF/);
    const short = join(folder.path(), "short.gguf");
    copyFileSync(modelFile, short);
    truncateSync(short, 500_000);
    await assertFails(embedded(short), /short\.gguf.*(truncated|incomplete|ends)/);
  }, 120_000);

  test("a script that cannot be played", async () => {
    const script = join(folder.path(), "wrong.json");
    writeFileSync(script, '{"scenarios": {"a": [{"say": "b"}]}}');
    await assertFails(
      folder.quick({ PARLEY_SCRIPT: script }),
      /wrong\.json cannot be played: step 1 of scenario "a" must have one of/,
    );
  });
});

describe("settings", () => {
  test("--help lists every one of them", async () => {
    const { code, stdout } = await parley(["start", "--help"], { cwd: folder.path() });
    expect(code).toBe(0);
    const names = [...settingNames.map((name) => rows[name]), ...modelShortcuts].map(({ env }) => env);
    expect(names.filter((name) => !stdout.includes(name))).toEqual([]);
  });

  test("faults in all of them are reported together, and nothing is started", async () => {
    const settings = folder.quick({ PORT: "eighty", VENDOR: "no spaces", PARLEY_ENGINE: "steam" });
    const { code, stderr } = await parley(["start", "--max-sockets", "-1"], settings);
    expect(code).toBe(2);
    for (const name of ["PORT", "VENDOR", "PARLEY_ENGINE", "--max-sockets"]) expect(stderr).toContain(name);
    expect(stderr).not.toContain("Parley is starting");
  });

  test.each([["--porrt", "1"], ["strat"]])("%s is not known", async (...args) => {
    const { code, stderr } = await parley(args, { cwd: folder.path() });
    expect(code).toBe(2);
    expect(stderr).toMatch(/unknown|too many arguments/);
    expect(stderr).toContain("--help");
  });

  test("parley.yaml is read, the environment wins over it, and a flag over both", async () => {
    const file = join(folder.path(), "own.yaml");
    writeFileSync(file, "vendor: from-file\nport: 1\nvendor_label: Of the file\n");
    const check = await parley(["config", "check", "--config", file, "--port", "3"], {
      cwd: folder.path(),
      env: { PORT: "2", VENDOR: "from-environment" },
    });
    expect(check.code).toBe(0);
    expect(check.stdout).toMatch(/VENDOR +from-environment +environment/);
    expect(check.stdout).toMatch(/PORT +3 +flag/);
    expect(check.stdout).toMatch(/VENDOR_LABEL +Of the file +parley\.yaml/);
    appendFileSync(file, "nonsense: 1\n");
    const wrong = await parley(["config", "check", "--config", file], { cwd: folder.path() });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("nonsense is not a setting");
  });

  test("a secret is shown by nothing", async () => {
    const env = { PARLEY_API_KEY: "environment-key-0123456789" };
    const { stdout } = await parley(["config", "check"], { cwd: folder.path(), env });
    expect(stdout).toContain("not shown");
    expect(stdout).not.toContain(env.PARLEY_API_KEY);
  });
});
