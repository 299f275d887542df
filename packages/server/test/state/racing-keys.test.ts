import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ManageError } from "../../src/accounts/manage/manage-error.ts";
import { performFor } from "../../src/accounts/manage/perform.ts";
import type { Perform } from "../../src/accounts/manage/perform.ts";
import { openState } from "../../src/state/open-state.ts";
import type { State } from "../../src/state/open-state.ts";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";
import { postgresFolder, TestPostgres } from "../../testing/start-postgres.ts";
import { user } from "../admin/use-admin.ts";

const none = { id: undefined, query: {}, body: undefined };

/** Returns the verbs of one server. @param groupId the group of an owner's admin key; undefined: the operator's */
function performOn(state: State, groupId?: string): Perform {
  const deps = { state, refused: { note: async () => undefined }, resolveModel: String, nowMs: Date.now };
  if (groupId === undefined) return performFor(deps, user);
  const key = { id: "abcdef012345", hash: "", name: "owner", scopes: ["keys:write"], groupId, createdMs: 1 } as const;
  return performFor(deps, { ...user, kind: "admin_key", key });
}

/** Lets owners on several servers make keys at the same time. @returns the number of keys, and that of the inner group */
async function race(states: readonly State[]): Promise<readonly number[]> {
  const [first] = states;
  if (!first) throw new Error("a race needs a server");
  const operator = performOn(first);
  const group = async (name: string, more: object) =>
    (await operator("createGroup", { ...none, body: { name, ...more } })).id;
  const team = await group("team", { max_keys: 5 });
  const child = await group("child", { parent_id: team, max_keys: 3 });
  const owners = states.map((state) => performOn(state, team));
  const creations = Array.from({ length: 30 }, async (_none, index) => {
    const body = { name: `key ${index}`, group_id: index % 3 === 0 ? team : child };
    await owners[index % owners.length]?.("createKey", { ...none, body });
  });
  const outcomes = await Promise.allSettled(creations);
  const refusals = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  for (const refusal of refusals)
    expect(refusal).toMatchObject({ code: "above_ceiling" } satisfies Partial<ManageError>);
  const { data } = await operator("listKeys", none);
  expect(data.length + refusals.length).toBe(creations.length);
  return [data.length, data.filter((key) => key.group_id === child).length];
}

test("owners on two connections to one data folder cannot pass max_keys", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-racing-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  using one = openState(folder);
  using two = openState(folder);
  const [keys, ofChild] = await race([one, two]);
  expect(keys).toBe(5);
  expect(ofChild).toBeLessThanOrEqual(3);
});

describe.skipIf(!postgresFolder)("on PostgreSQL (this needs `initdb`)", () => {
  test("owners on three servers cannot pass max_keys", async () => {
    await using postgres = await TestPostgres.start();
    const url = postgres.urlOf(await postgres.createDatabase());
    await using one = await openPostgres(url);
    await using two = await openPostgres(url);
    await using three = await openPostgres(url);
    const [keys, ofChild] = await race([one, two, three]);
    expect(keys).toBe(5);
    expect(ofChild).toBeLessThanOrEqual(3);
  });
});
