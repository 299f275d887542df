import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as admin from "@parley/contract/admin-types";
import type * as contract from "@parley/contract/types";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chatInit, CliProcess, modelId, parley, play, withKey } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "../use-folder.ts";

/**
 * A portal and one of its teams, over HTTP alone: a group with a monthly budget, its owner, three keys, a team that passes the
 * budget, the next month, and the audit log. Only the first admin key comes from a command, and the clock of the server is moved.
 */

const folder = useFolder();
const zone = "Asia/Kathmandu";
let server: CliProcess;
let api = "";
let adminUrl = "";
let portal = "";

const moveClock = (ms: number): void => writeFileSync(join(folder.path(), "clock"), String(ms));

beforeAll(async () => {
  moveClock(0);
  const script = join(folder.path(), "script.json");
  writeFileSync(script, JSON.stringify({ scenarios: { short: [{ text: "Hello" }, { finish: "stop" }] } }));
  const clock = pathToFileURL(join(import.meta.dirname, "shift-clock.mjs")).href;
  const settings = folder.quick({
    PARLEY_SCRIPT: script,
    PARLEY_ADMIN_PORT: "0",
    NODE_OPTIONS: `--import=${clock}`,
    CLOCK_FILE: join(folder.path(), "clock"),
  });
  const scopes = "groups:read,groups:write,keys:read,keys:write,admin-keys:read,admin-keys:write,audit:read";
  const made = await parley(["admin-keys", "create", "--name", "portal", "--scopes", scopes, "--json"], settings);
  server = new CliProcess(["start"], settings);
  api = await baseUrlOf(server);
  adminUrl = `${(await server.says(/Admin API\s+(\S+)/))[1]}`;
  const { key_file } = JSON.parse(made.stdout) as { readonly key_file: string }; // what `--json` says
  portal = readFileSync(resolve(settings.cwd, key_file), "utf8").trim();
});
afterAll(() => server[Symbol.asyncDispose]());

type Admin = admin.components["schemas"];
type Public = contract.components["schemas"];

interface Sent<Body> {
  readonly status: number;
  readonly body: Body;
}

/** Sends a request with a bearer token. The contracts say which body it gets. */
async function send<Body>(url: string, token: string, method = "GET", content?: object): Promise<Sent<Body>> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(content && { "content-type": "application/json" }) },
    ...(content && { body: JSON.stringify(content) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

async function make<Body>(url: string, token: string, content: object): Promise<Body> {
  const { status, body } = await send<Body>(url, token, "POST", content);
  expect([status, body]).toEqual([201, expect.anything()]);
  return body;
}

/** Asks until the answer has another status than 200. */
async function askUntilRefused(token: string): Promise<Sent<Public["ErrorResponse"]>> {
  for (let asked = 0; asked < 100; asked += 1) {
    const response = await fetch(
      `${api}/chat/completions`,
      chatInit({ ...play("short"), max_completion_tokens: 8 }, withKey(token)),
    );
    if (response.status !== 200)
      return { status: response.status, body: (await response.json()) as Public["ErrorResponse"] };
    await response.text();
  }
  throw new Error("the budget was never spent");
}

/** Returns the steps in the audit log, the oldest first. */
async function readSteps(): Promise<readonly unknown[]> {
  const { body: log } = await send<Admin["AuditPage"]>(`${adminUrl}/audit?limit=100`, portal);
  const steps = log.data.map(({ action, actor, outcome, target }) => [action, actor.name, outcome, target?.name]);
  return steps.toReversed();
}

test("a team spends its group's budget, goes on in the next month, and every step is in the audit log", async () => {
  const budget = { budget_usd: "0.00004", period: "month", time_zone: zone };
  const group = await make<Admin["Group"]>(`${adminUrl}/groups`, portal, {
    name: "search",
    max_keys: 3,
    key_ceiling: { concurrency: 2 },
    ...budget,
  });
  const owned = { name: "owner of search", scopes: ["keys:read", "keys:write"], group_id: group.id };
  const { token: owner } = await make<Admin["NewAdminKey"]>(`${adminUrl}/admin-keys`, portal, owned);
  const tokens: string[] = [];
  for (const name of ["one", "two", "three"])
    tokens.push((await make<Admin["NewKey"]>(`${adminUrl}/keys`, owner, { name })).token);
  const fourth = await send<Admin["ErrorResponse"]>(`${adminUrl}/keys`, owner, "POST", { name: "four" });
  expect([fourth.status, fourth.body.error.message]).toEqual([expect.any(Number), expect.stringMatching(/3 keys/)]);

  const seen = await send<Public["KeyState"]>(`${api}/key`, tokens[0] ?? "");
  expect(seen.body).toMatchObject({
    label: "one",
    models: expect.arrayContaining([modelId]),
    limits: { concurrency: 2 },
  });
  expect(seen.body.budgets).toMatchObject([{ scope: "group", name: "search", usage_usd: "0", time_zone: zone }]);

  const refused = await askUntilRefused(tokens[1] ?? "");
  expect(refused.status).toBe(402);
  expect(refused.body.error).toMatchObject({
    code: "insufficient_quota",
    details: { budget: { scope: "group", name: "search", period: "month" } },
  });
  expect(refused.body.error.message).toContain("the group search for each month");
  expect((await askUntilRefused(tokens[2] ?? "")).status).toBe(402);

  moveClock(Date.parse(seen.body.budgets[0]?.resets_at ?? "") - Date.now() + 1000);
  const renewed = await send<Public["KeyState"]>(`${api}/key`, tokens[0] ?? "");
  expect(renewed.body.budgets).toMatchObject([{ usage_usd: "0", remaining_usd: budget.budget_usd }]);
  const answer = await fetch(
    `${api}/chat/completions`,
    chatInit({ ...play("short"), max_completion_tokens: 8 }, withKey(tokens[2] ?? "")),
  );
  expect(answer.status).toBe(200);

  expect(await readSteps()).toMatchObject([
    ["createAdminKey", expect.any(String), "done", "portal"],
    ["createKey", expect.any(String), "done", "first key"],
    ["createGroup", "portal", "done", "search"],
    ["createAdminKey", "portal", "done", "owner of search"],
    ["createKey", "owner of search", "done", "one"],
    ["createKey", "owner of search", "done", "two"],
    ["createKey", "owner of search", "done", "three"],
    ["createKey", "owner of search", "refused", "four"],
  ]);
});
