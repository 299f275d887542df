import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { miniId, modelId, parley, toRefusal, withKey } from "@parley/server/testing";
import type { CliResult } from "@parley/server/testing";
import { useServer } from "./use-server.ts";

/** Every command runs in a process of its own, beside a running server. */
const server = useServer();

const keys = (...args: readonly string[]): Promise<CliResult> =>
  parley(["keys", ...args, "--data-dir", server().dataDir], { cwd: server().dataDir });

interface Made {
  readonly id: string;
  readonly token: string;
  readonly file: string;
}

async function create(...rules: readonly string[]): Promise<Made> {
  return shown(await keys("create", "--name", "partner", ...rules));
}

/** What a command shows of a new key where no terminal watches: its id, and a file. */
function shown({ code, stdout, stderr }: CliResult): Made {
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [, id = "", file = ""] = /^id {3}(\S+)\nkey {2}in (\S+)\n$/.exec(stdout) ?? [];
  return { id, file, token: readFileSync(file, "utf8").trim() };
}

const statusWith = async (token: string, members = {}): Promise<number> =>
  (await server().chat(members, withKey(token))).status;

describe("a key that is", () => {
  test("created works at once, and is in a file that only its owner reads", async () => {
    const { token, file } = await create();
    expect(await statusWith(token)).toBe(200);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("disabled is refused at once, and stays so", async () => {
    const { id, token } = await create();
    expect(await statusWith(token)).toBe(200);
    expect(await keys("disable", id)).toMatchObject({ code: 0, stdout: `${id} is disabled.\n` });
    expect(await statusWith(token)).toBe(401);
    expect(await keys("disable", id)).toMatchObject({ code: 0 });
    expect(await statusWith(token)).toBe(401);
  });

  test("rotated has another secret and the same rules, and the old secret is refused at once", async () => {
    const old = await create("--models", miniId);
    const renewed = shown(await keys("rotate", old.id));
    expect(renewed.id).toBe(old.id);
    expect(renewed.token).not.toBe(old.token);
    expect(await statusWith(old.token, { model: miniId })).toBe(401);
    expect(await statusWith(renewed.token, { model: miniId })).toBe(200);
    expect(await statusWith(renewed.token)).toBe(404);
    expect(statSync(renewed.file).mode & 0o777).toBe(0o600);
  });

  test("unknown is told, with where to look", async () => {
    for (const verb of ["disable", "rotate"]) {
      const { code, stderr } = await keys(verb, "nobody");
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'parley: There is no key nobody. "keys list" shows the ids.\n',
      });
    }
  });
});

describe("a rule", () => {
  test.each([
    ["--requests-per-minute", "1", 429],
    ["--tokens-per-minute", "10", 429],
    ["--budget-usd", "0", 402],
    ["--models", miniId, 404],
  ])("%s %s is enforced", async (flag, value, status) => {
    const { token } = await create(flag, value);
    if (flag === "--requests-per-minute") expect(await statusWith(token)).toBe(200);
    expect(await statusWith(token)).toBe(status);
  });

  test("--expires is a time from now", async () => {
    const { id } = await create("--expires", "30d");
    const listed = JSON.parse((await keys("list", "--json")).stdout) as { id: string; expiresMs: number }[];
    const days = ((listed.find((key) => key.id === id)?.expiresMs ?? 0) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
  });

  test.each([
    [["--requests-per-minute", "0"], /whole number, at least 1/],
    [["--concurrency", "many"], /whole number, at least 1/],
    [["--budget-usd", "5,00"], /an amount such as/],
    [["--expires", "soon"], /a date such as/],
  ])("%j is misused", async (flags, sentence) => {
    const { code, stderr } = await keys("create", "--name", "partner", ...flags);
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
  });

  test("for a model that is not served is refused, with those that are", async () => {
    const { code, stderr } = await keys("create", "--name", "partner", "--models", "vendor/other");
    expect(stderr).toBe(`parley: There is no model vendor/other. There are ${modelId} and ${miniId}.\n`);
    expect(code).toBe(1);
  });
});

describe("keys list", () => {
  test("shows states and rules, and never a secret", async () => {
    const { id, token } = await create("--concurrency", "7", "--budget-usd", "0.25");
    await statusWith(token);
    const { stdout } = await keys("list");
    const row = stdout.split("\n").find((line) => line.startsWith(id)) ?? "";
    expect(row).toMatch(/partner +active .* 7 +0\.25 +0\.\d+/);
    const secret = token.slice(token.indexOf(".") + 1);
    for (const text of [stdout, (await keys("list", "--json")).stdout]) {
      expect(text).not.toContain(secret);
      expect(text).not.toMatch(/hash|[0-9a-f]{64}/);
    }
  });

  test("the database holds no secret either", async () => {
    const { token } = await create();
    const stored = ["parley.db", "parley.db-wal"].map((name) => readFileSync(join(server().dataDir, name), "latin1"));
    expect(stored.join("").includes(token.slice(token.indexOf(".") + 1))).toBe(false);
  });
});

test("keys can be made before any server was started", async () => {
  const dataDir = join(server().dataDir, "later");
  mkdirSync(dataDir);
  const made = await parley(["keys", "create", "--name", "early", "--data-dir", dataDir], { cwd: dataDir });
  expect(shown(made).token).toMatch(/^parley_/);
});

test("a key of another server is nobody's", async () => {
  const refusal = await toRefusal(await server().chat({}, withKey("parley_aaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")));
  expect(refusal).toMatchObject({ status: 401, code: "invalid_api_key" });
});
