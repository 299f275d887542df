import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  areStoresShared,
  judgeStream,
  miniId,
  modelId,
  parley,
  play,
  toRefusal,
  withKey,
} from "@parley/server/testing";
import type { CliResult } from "@parley/server/testing";
import { useServer } from "./use-server.ts";

/** Every command runs in a process of its own while a server is running. */
const server = useServer();

const keys = (...args: readonly string[]): Promise<CliResult> =>
  parley(["keys", ...args, "--data-dir", server().dataDir], { cwd: server().dataDir });

interface Made {
  readonly id: string;
  readonly token: string;
  readonly file: string;
}

async function create(...rules: readonly string[]): Promise<Made> {
  return shown(await keys("create", ...(rules.includes("--name") ? [] : ["--name", "partner"]), ...rules));
}

/** Reads the output of a command that makes a key. Without a terminal, it names the key's id and a file with the token. */
function shown({ code, stdout, stderr }: CliResult): Made {
  // Some of the limits here are small on purpose.
  expect({ code, stderr: stderr.replaceAll(/^Warning: .*\n/gm, "") }).toEqual({ code: 0, stderr: "" });
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

  test("enabled again is admitted with the secret that it had", async () => {
    const { id, token } = await create();
    await keys("disable", id);
    expect(await keys("enable", id)).toMatchObject({ code: 0, stdout: `${id} is enabled.\n` });
    expect(await statusWith(token)).toBe(200);
  });

  test("deleted is refused at once and not listed any more, and its usage stays", async () => {
    const { id, token, file } = await create();
    expect(await statusWith(token)).toBe(200);
    expect(await keys("delete", id)).toMatchObject({ code: 0, stdout: expect.stringContaining("stays") as string });
    expect(await statusWith(token)).toBe(401);
    expect((await keys("list")).stdout).not.toContain(id);
    expect(existsSync(file)).toBe(false);
    expect((await server().ledger()).filter((row) => row.key_id === id)).toHaveLength(1);
    expect((await keys("enable", id)).code).toBe(1);
  });

  test("rotated with an overlap works with both secrets, until the overlap or the next rotation ends it", async () => {
    const old = await create();
    const { stdout, stderr } = await keys("rotate", old.id, "--overlap", "1h");
    expect(stderr).toMatch(/^The secret before it works until \d{4}-/);
    const renewed = shown({ code: 0, stdout, stderr: "" });
    for (const token of [old.token, renewed.token]) expect(await statusWith(token)).toBe(200);
    expect((await keys("show", old.id)).stdout).toMatch(/former secret +works until/);
    await keys("rotate", old.id, "--overlap", "0m");
    for (const token of [old.token, renewed.token]) expect(await statusWith(token)).toBe(401);
  });

  test("updated has the new rules at once, and keeps the others", async () => {
    const { id, token } = await create("--models", miniId, "--concurrency", "7", "--budget-usd", "5");
    expect(await statusWith(token)).toBe(404);
    const rules = [
      "--models",
      "all",
      "--name",
      "renamed",
      "--weight",
      "3",
      "--budget-usd",
      "none",
      "--monthly-budget-usd",
      "0.5",
    ];
    const { code, stdout } = await keys("update", id, ...rules, "--expires", "30d", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      id,
      name: "renamed",
      state: "active",
      models: null,
      concurrency: 7,
      weight: 3,
      budget_usd: null,
      monthly_budget_usd: "0.5",
    });
    expect(await statusWith(token)).toBe(200);
    expect(JSON.parse((await keys("update", id, "--weight", "none", "--json")).stdout)).toMatchObject({ weight: 1 });
    await keys("update", "renamed", "--monthly-budget-usd", "0");
    expect(await statusWith(token)).toBe(402);
    expect(JSON.parse((await keys("update", id, "--expires", "never", "--json")).stdout)).toMatchObject({
      expires: null,
    });
    expect(await keys("update", id)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/nothing to change/) as string,
    });
  });

  test("rotated has another secret and the same rules, and the old secret is refused at once", async () => {
    const old = await create("--models", miniId);
    const renewed = shown({ ...(await keys("rotate", old.id)), stderr: "" });
    expect(renewed.id).toBe(old.id);
    expect(renewed.token).not.toBe(old.token);
    expect(await statusWith(old.token, { model: miniId })).toBe(401);
    expect(await statusWith(renewed.token, { model: miniId })).toBe(200);
    expect(await statusWith(renewed.token)).toBe(404);
    expect(statSync(renewed.file).mode & 0o777).toBe(0o600);
  });

  test("unknown is reported, with the command that lists the keys", async () => {
    for (const args of [["disable"], ["enable"], ["delete"], ["rotate"], ["show"], ["update", "--name", "x"]]) {
      const { code, stderr } = await keys(...args, "nobody");
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: "parley: There is no key nobody. To see them all: npx -y pnpm@12.21.0 parley keys list\n",
      });
    }
  });

  test("meant by a name is found where only one has it", async () => {
    const { id } = await create("--name", "only one");
    expect(await keys("disable", "only one")).toMatchObject({ code: 0, stdout: `${id} is disabled.\n` });
    const twins = [await create("--name", "twin"), await create("--name", "twin")];
    const { code, stderr } = await keys("delete", "twin");
    expect(code).toBe(1);
    for (const twin of twins) expect(stderr).toContain(twin.id);
  });
});

describe("a rule", () => {
  test.each([
    ["--requests-per-minute", "1", 429],
    ["--tokens-per-minute", "1", 429],
    ["--budget-usd", "0", 402],
    ["--monthly-budget-usd", "0", 402],
    ["--models", miniId, 404],
  ])("%s %s is enforced", async (flag, value, status) => {
    const { token } = await create(flag, value);
    if (flag === "--requests-per-minute") expect(await statusWith(token)).toBe(200);
    expect(await statusWith(token)).toBe(status);
  });

  test("--expires is a time from now", async () => {
    const { id } = await create("--expires", "30d");
    const listed = JSON.parse((await keys("list", "--json")).stdout) as { id: string; expires: string }[];
    const days = (Date.parse(listed.find((key) => key.id === id)?.expires ?? "") - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
  });

  test.each([
    [["--requests-per-minute", "0"], /whole number, at least 1/],
    [["--concurrency", "many"], /whole number, at least 1/],
    [["--weight", "101"], /whole number from 1 to 100/],
    [["--weight", "0.5"], /whole number from 1 to 100/],
    [["--budget-usd", "5,00"], /an amount such as/],
    [["--expires", "soon"], /a date such as/],
    [["--expires", "2020-01-01"], /in the future/],
    [["--expires", "0d"], /in the future/],
    [["--monthly-budget-usd", "much"], /an amount such as/],
  ])("%j is misused", async (flags, sentence) => {
    const { code, stderr } = await keys("create", "--name", "partner", ...flags);
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
  });

  test("for a model that is not served is refused, with those that are", async () => {
    const { code, stderr } = await keys("create", "--name", "partner", "--models", "vendor/other");
    expect(stderr).toBe(
      `parley: There is no model vendor/other. Did you mean "vendor/model-1"? There are ${modelId} and ${miniId}.\n`,
    );
    expect(code).toBe(1);
  });
});

describe("keys list", () => {
  test("shows states and rules, and never a secret", async () => {
    const { id, token } = await create("--concurrency", "7", "--budget-usd", "0.25");
    await statusWith(token);
    const { stdout } = await keys("list");
    const row = stdout.split("\n").find((line) => line.startsWith(id)) ?? "";
    expect(row).toMatch(/partner +active +- +all +1 +0\.25 +0\.\d+ +- +0\.\d+/);
    expect((await keys("show", id)).stdout).toMatch(/^concurrency +7 requests at the same time$/m);
    const secret = token.slice(token.indexOf(".") + 1);
    const others = [await keys("list", "--json"), await keys("show", id), await keys("show", id, "--json")];
    for (const text of [stdout, ...others.map((other) => other.stdout)]) {
      expect(text).not.toContain(secret);
      expect(text).not.toMatch(/hash|[0-9a-f]{64}/);
    }
  });

  test.skipIf(areStoresShared)("the database holds no secret either", async () => {
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

test.skipIf(areStoresShared)("a path that is not a data folder is refused, and not created", async () => {
  const dataDir = join(server().dataDir, "mistyped");
  for (const args of [["keys", "list"], ["usage"], ["request", "req_x"], ["backup", join(dataDir, "copy.db")]]) {
    const { code, stderr } = await parley([...args, "--data-dir", dataDir], { cwd: server().dataDir });
    expect(stderr).toMatch(/mistyped is not a data folder: .*--data-dir/);
    expect(code).toBe(1);
  }
  expect(existsSync(dataDir)).toBe(false);
});

test("a key of another server is refused", async () => {
  const refusal = await toRefusal(await server().chat({}, withKey("parley_aaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")));
  expect(refusal).toMatchObject({ status: 401, code: "invalid_api_key" });
});

describe("a key that is disabled or deleted while its requests run ends them within a second:", () => {
  const begun = [{ role: true, tokens: 0 }, { text: "one" }] as const;
  const busy = useServer({
    scenarios: { open: [...begun, { stall: true }], slow: [...begun, { wait_ms: 3000 }, { finish: "stop" }] },
  });

  test.each(["disable", "delete"])("keys %s, with invalid_api_key", async (change) => {
    const token = await busy().makeKey();
    const id = token.slice("parley_".length, token.indexOf("."));
    const asked = { ...play("open"), stream: true };
    const stream = await busy().chat(asked, withKey(token));
    const plain = busy().chat(play("open"), withKey(token));
    const other = busy().stream(play("slow"), withKey(await busy().makeKey()));

    const { code } = await parley(["keys", change, id, "--data-dir", busy().dataDir], { cwd: busy().dataDir });
    expect(code).toBe(0);
    const changedMs = performance.now();
    expect(judgeStream(asked, await stream.text())).toMatchObject({
      end: "failed",
      text: "one",
      error: { code: "invalid_api_key" },
    });
    expect(await toRefusal(await plain)).toMatchObject({ status: 401, code: "invalid_api_key" });
    expect(performance.now() - changedMs).toBeLessThan(1000);

    expect(await other).toMatchObject({ end: "done", text: "one" });
    const rows = (await busy().ledger()).filter((row) => row.key_id === id);
    expect(rows).toMatchObject([
      { outcome: "failed", completion_tokens: 1 },
      { outcome: "failed", completion_tokens: 1 },
    ]);
  });
});
