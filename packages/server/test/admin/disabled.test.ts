import { afterAll, beforeAll, expect, test } from "vitest";
import { startAdmin } from "./use-admin.ts";
import type { AdminServer, Reply } from "./use-admin.ts";

/** An owner cannot undo that the operator, or the owner of the group above, has disabled a key. */

const none = { id: undefined, query: {}, body: undefined };
const scopes = ["keys:read", "keys:write", "admin-keys:read", "admin-keys:write"] as const;
let admin: AdminServer;
let team: string;
/** Tokens of the operator, of the team's owner and of the owner of a group in the team. */
let operator: string;
let owner: string;
let inner: string;
let child: string;

beforeAll(async () => {
  admin = await startAdmin();
  team = (await admin.local("createGroup", { ...none, body: { name: "team" } })).id;
  child = (await admin.local("createGroup", { ...none, body: { name: "child", parent_id: team } })).id;
  operator = await admin.makeKey(scopes, { name: "operator" });
  owner = await admin.makeKey(scopes, { name: "owner", group_id: team });
  inner = await admin.makeKey(scopes, { name: "inner owner", group_id: child });
});
afterAll(() => admin[Symbol.asyncDispose]());

/** Makes a key or an admin key in the inner group. @returns its path */
async function make(kind: "keys" | "admin-keys"): Promise<string> {
  if (kind === "keys") {
    const { key } = await admin.local("createKey", { ...none, body: { name: "watched", group_id: child } });
    return `/keys/${key.id}`;
  }
  const body = { name: "watched", group_id: child, scopes: ["keys:read"] as const };
  const made = await admin.local("createAdminKey", { ...none, body: { ...body, scopes: [...body.scopes] } });
  return `/admin-keys/${made.admin_key.id}`;
}

const post = (token: string, path: string, verb: "enable" | "disable"): Promise<Reply> =>
  admin.call(token, "POST", `${path}/${verb}`);
const stateOf = (reply: Reply): unknown => (reply.body as { state?: unknown }).state; // of a key or an admin key

async function expectRefused(reply: Reply, who: RegExp, actor: string): Promise<void> {
  expect([reply.status, reply.code]).toEqual([403, "disabled_by_operator"]);
  expect(reply.message).toMatch(who);
  const [entry] = await admin.audit();
  expect(entry).toMatchObject({ outcome: "refused", reason: reply.message, actor: { name: actor }, attempts: 1 });
}

const kinds = ["keys", "admin-keys"] as const;

test.each(kinds)(
  "an owner can neither enable nor delete one of the %s that the operator has disabled",
  async (kind) => {
    const path = await make(kind);
    await post(operator, path, "disable");
    await expectRefused(await post(owner, path, "enable"), /^watched was disabled by the operator, so/, "owner");
    await expectRefused(await admin.call(owner, "DELETE", path), /by the operator/, "owner");
    // Disabling it again does not make it the owner's.
    expect(stateOf(await post(owner, path, "disable"))).toBe("disabled");
    await expectRefused(await post(owner, path, "enable"), /by the operator/, "owner");
    expect(stateOf(await post(operator, path, "enable"))).toBe("active");
    expect((await admin.call(owner, "DELETE", path)).status).toBe(204);
  },
);

test.each(kinds)("what the operator's command has disabled stays so, too: %s", async (kind) => {
  const path = await make(kind);
  const id = path.split("/").at(-1) ?? "";
  await admin.local(kind === "keys" ? "disableKey" : "disableAdminKey", { id, query: {}, body: undefined });
  expect((await admin.audit())[0]).toMatchObject({ outcome: "done", actor: { kind: "user" } });
  await expectRefused(await post(owner, path, "enable"), /by the operator/, "owner");
});

test.each(kinds)(
  "the owner of the group above counts like the operator, and an owner undoes its own: %s",
  async (kind) => {
    const path = await make(kind);
    await post(inner, path, "disable");
    expect(stateOf(await post(inner, path, "enable"))).toBe("active");
    await post(inner, path, "disable");
    expect(stateOf(await post(owner, path, "enable"))).toBe("active");
    await post(owner, path, "disable");
    await expectRefused(
      await post(inner, path, "enable"),
      new RegExp(`by the owner of the group ${team}`),
      "inner owner",
    );
    expect(stateOf(await post(owner, path, "enable"))).toBe("active");
    // The operator takes over what an owner has disabled.
    await post(owner, path, "disable");
    await post(operator, path, "disable");
    await expectRefused(await post(owner, path, "enable"), /by the operator/, "owner");
  },
);
