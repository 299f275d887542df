import { describe, expect, test } from "vitest";
import { judgeStream, makeKeyIn, parley, play, say, withKey } from "@parley/server/testing";
import type { CliResult } from "@parley/server/testing";
import { useServer } from "./use-server.ts";

/** Every command runs in a process of its own while a server is running. */
const server = useServer({ scenarios: { stall: [{ text: "a" }, { stall: true }] } });

const run = (...args: readonly string[]): Promise<CliResult> =>
  parley([...args, "--data-dir", server().dataDir], { cwd: server().dataDir });
const groups = (...args: readonly string[]): Promise<CliResult> => run("groups", ...args);

async function create(name: string, ...rules: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await groups("create", "--name", name, ...rules, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Creates a group and a key in it. @returns the id of the group, and what to send with a request */
async function createWithKey(name: string, ...rules: readonly string[]) {
  const groupId = String((await create(name, ...rules))["id"]);
  const { token } = await makeKeyIn(server().dataDir, { name: `key of ${name}`, groupId });
  return { groupId, key: withKey(token) };
}

const priceOf = async (): Promise<string> => (await server().complete(say("a b c"))).usage.cost_usd;

describe("the budget of a group", () => {
  test("LIM-15 is that of all its keys, and 402 names it, its period, and when it starts again", async () => {
    const price = await priceOf();
    const { groupId, key } = await createWithKey(
      "team one",
      "--budget-usd",
      price,
      "--period",
      "month",
      "--time-zone",
      "America/Sao_Paulo",
    );
    const other = withKey((await makeKeyIn(server().dataDir, { groupId })).token);
    expect((await server().chat(say("a b c"), key)).status).toBe(200);
    for (const one of [key, other]) {
      const refusal = await server().refuse(say("a b c"), one);
      expect(refusal).toMatchObject({
        status: 402,
        code: "insufficient_quota",
        details: { budget: { scope: "group", name: "team one", limit_usd: price, period: "month" } },
      });
      expect(refusal.message).toMatch(
        /^The budget of the group team one for each month, [\d.]+ US dollars, is spent\. It starts again on \d{4}-\d\d-01 00:00 \(America\/Sao_Paulo\)/,
      );
    }
    const shown = JSON.parse((await groups("show", "team one", "--json")).stdout) as Record<string, unknown>;
    expect(shown).toMatchObject({ spent_usd: price, keys: 2, period: "month", time_zone: "America/Sao_Paulo" });
    expect((await groups("update", "team one", "--budget-usd", "5")).code).toBe(0);
    expect((await server().chat(say("a b c"), other)).status).toBe(200);
  });

  test("LIM-15 that cannot pay for a request is named with the amounts", async () => {
    const { key } = await createWithKey("team two", "--budget-usd", "0.000001");
    const refusal = await server().refuse({ ...say("a b c"), max_completion_tokens: 100 }, key);
    expect(refusal).toMatchObject({
      status: 402,
      details: { remaining_usd: "0.000001", budget: { scope: "group", name: "team two" } },
    });
    expect(refusal.message).toContain(
      "and 0.000001 of the budget of the group team two, 0.000001 US dollars, is left. Lower",
    );
  });

  test("the group above counts the keys of all groups in it", async () => {
    const price = await priceOf();
    await create("company", "--budget-usd", price);
    const { key } = await createWithKey("north", "--parent", "company", "--budget-usd", "100");
    const { key: sister } = await createWithKey("south", "--parent", "company");
    expect((await server().chat(say("a b c"), key)).status).toBe(200);
    for (const one of [key, sister])
      expect((await server().refuse(say("a b c"), one)).message).toContain("budget of the group company");
    const { stdout } = await run("usage", "--by", "group", "--json");
    const rows = JSON.parse(stdout) as { group_name: string; requests: number; cost_usd: string }[];
    expect(rows.find((row) => row.group_name === "north")).toMatchObject({ requests: 1, cost_usd: price });
  });

  test("below what is spent is refused, and can be forced", async () => {
    const price = await priceOf();
    const { key } = await createWithKey("team three", "--period", "day", "--time-zone", "UTC");
    expect((await server().chat(say("a b c"), key)).status).toBe(200);
    const { code, stderr } = await groups("update", "team three", "--budget-usd", "0.0000001");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        `^parley: The group team three has spent ${price} US dollars since \\d{4}-\\d\\d-\\d\\d 00:00 \\(UTC\\), so a budget of 0\\.0000001 refuses all requests of its keys\\. Nothing was changed\\. To set it all the same, add --force\\.\n$`,
      ) as string, // a matcher takes the place of the text
    });
    expect((await server().chat(say("a b c"), key)).status).toBe(200);
    expect((await groups("update", "team three", "--budget-usd", "0.0000001", "--force")).code).toBe(0);
    expect((await server().chat(say("a b c"), key)).status).toBe(402);
    expect((await groups("update", "team three", "--budget-usd", "none")).code).toBe(0);
    expect((await server().chat(say("a b c"), key)).status).toBe(200);
  });
});

describe("a group that is disabled", () => {
  test("refuses its keys, ends their running requests within a second, and admits them again", async () => {
    await create("outer");
    const { key } = await createWithKey("inner", "--parent", "outer");
    const asked = { ...play("stall"), stream: true };
    const stream = await server().chat(asked, key);
    expect(stream.status).toBe(200);
    const { code, stdout } = await groups("disable", "outer");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^outer \(grp_[0-9a-f]{12}\) is disabled\.\n$/)]);
    const changedMs = performance.now();
    expect(judgeStream(asked, await stream.text()).error).toMatchObject({ code: "invalid_api_key" });
    expect(performance.now() - changedMs).toBeLessThan(1000);
    expect((await server().chat(say("a"), key)).status).toBe(401);
    expect((await groups("enable", "outer")).code).toBe(0);
    expect((await server().chat(say("a"), key)).status).toBe(200);
  });
});

test("a key is put into a group, listed with it, and taken out", async () => {
  await create("house");
  const made = await run("keys", "create", "--name", "roomer", "--group", "house", "--json");
  expect(made.code).toBe(0);
  expect((await run("keys", "show", "roomer")).stdout).toMatch(/^group +house$/m);
  expect((await run("keys", "list")).stdout).toMatch(/^id +name +group +state /);
  expect((await groups("delete", "house")).stderr).toBe(
    "parley: The group house still has 1 key. Move them to another group or delete them first.\n",
  );
  expect((await run("keys", "update", "roomer", "--group", "none")).code).toBe(0);
  expect((await groups("delete", "house")).stdout).toMatch(/^house \(grp_[0-9a-f]{12}\) is deleted\.\n$/);
  const listed = JSON.parse((await run("keys", "list", "--json")).stdout) as { name: string; group: unknown }[];
  expect(listed.find(({ name }) => name === "roomer")).toMatchObject({ group: null, group_id: null });
});

test("groups are listed as a table and shown with all their rules", async () => {
  await create("palace", "--budget-usd", "50", "--period", "week", "--time-zone", "Asia/Kathmandu");
  await create(
    "chamber",
    "--parent",
    "palace",
    "--max-keys",
    "3",
    "--key-budget-usd",
    "5",
    "--key-requests-per-minute",
    "60",
  );
  const { stdout } = await groups("list");
  expect(stdout).toMatch(/^id +name +state +in +keys +budget +for each +time zone +spent$/m);
  expect(stdout).toMatch(/^grp_[0-9a-f]{12} +palace +active +- +0 +50 +week +Asia\/Kathmandu +0$/m);
  expect(stdout).toMatch(/^grp_[0-9a-f]{12} +chamber +active +palace +0 +- +- +- +0$/m);
  const palace = (await groups("show", "palace")).stdout;
  expect(palace).toMatch(/^budget +50 US dollars for each week; 0 US dollars spent this week$/m);
  expect(palace).toMatch(/^starts again +\d{4}-\d\d-\d\d 00:00 \(Asia\/Kathmandu\)$/m);
  const changed = await groups("update", "chamber", "--key-budget-usd", "none", "--key-weight", "2");
  expect(changed.stdout).toMatch(/^keys +0 of at most 3$/m);
  expect(changed.stdout).toMatch(/^key requests per minute +at most 60\nkey weight +at most 2$/m);
  const { stdout: back } = await groups("update", "palace", "--period", "none", "--json");
  expect(JSON.parse(back)).toMatchObject({ budget_usd: "50", period: null, time_zone: null, resets_at: null });
});

describe("a command with bad input changes nothing:", () => {
  test.each([
    ["a period without a time zone", ["create", "--name", "x", "--period", "day"], /for each day needs a time zone/],
    [
      "an unknown zone",
      ["create", "--name", "x", "--period", "day", "--time-zone", "Mars/Base"],
      /no time zone Mars\/Base/,
    ],
    ["a time zone alone", ["create", "--name", "x", "--time-zone", "UTC"], /A time zone needs a period/],
    ["a name that is taken", ["create", "--name", "taken"], /already a group taken/],
    ["an unknown parent", ["create", "--name", "x", "--parent", "nobody"], /There is no group nobody/],
    ["its own parent", ["update", "taken", "--parent", "taken"], /cannot be its own parent/],
    ["a circle", ["update", "taken", "--parent", "under taken"], /would be a circle/],
    ["a second level", ["create", "--name", "x", "--parent", "under taken"], /groups nest once/],
    ["a group with groups", ["delete", "taken"], /still has groups \(under taken\)/],
    ["nothing to change", ["update", "taken"], /nothing to change/],
    ["no name", ["create"], /a group needs a name/],
    [
      "an unknown period",
      ["create", "--name", "x", "--period", "year", "--time-zone", "UTC"],
      /Allowed choices are day/,
    ],
    ["a model that is not served", ["create", "--name", "x", "--key-models", "vendor/nothing"], /There is no model/],
  ])("%s", async (_what, args, message) => {
    const before = (await groups("list")).stdout;
    if (!before.includes("taken")) {
      await create("taken");
      await create("under taken", "--parent", "taken");
    }
    const known = (await groups("list")).stdout;
    const { code, stderr } = await groups(...args);
    expect([code === 0, stderr]).toEqual([false, expect.stringMatching(message)]);
    expect((await groups("list")).stdout).toBe(known);
  });
});
