import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "@parley/server/testing";
import { maxPerMinute } from "../../src/accounts/manage/refused-attempts.ts";
import { startAdmin } from "./use-admin.ts";
import type { AdminServer } from "./use-admin.ts";

let admin: AdminServer;
beforeAll(async () => void (admin = await startAdmin()));
afterAll(() => admin[Symbol.asyncDispose]());

const self = (token: string) => admin.call(token, "GET", "/self");

test("an admin key tells what it may do, and when it was last used", async () => {
  const token = await admin.makeKey(["usage:read"]);
  await self(token);
  const { status, body } = await self(token);
  expect([status, body]).toMatchObject([
    200,
    {
      name: "portal",
      scopes: ["usage:read"],
      group_id: null,
      state: "active",
      last_used: expect.any(String) as unknown,
    },
  ]);
});

test("unknown, malformed, disabled, expired and missing admin keys get one and the same 401", async () => {
  const wrong = await admin.makeKey(["keys:read"]);
  const disabled = await admin.makeKey(["keys:read"], { name: "disabled" });
  const { data } = await admin.local("listAdminKeys", { id: undefined, query: { name: "disabled" }, body: undefined });
  await admin.local("disableAdminKey", { id: data[0]?.id ?? "", query: {}, body: undefined });
  const expiresMs = Date.now() + 1000;
  const expired = await admin.makeKey(["keys:read"], { expires: new Date(expiresMs).toISOString() });
  await until(
    () => Date.now(),
    (now) => now > expiresMs,
  );
  const { token: chatKey } = await admin.local("createKey", { id: undefined, query: {}, body: { name: "chat" } });
  const tokens = [`${wrong.slice(0, -2)}AA`, "parley_admin_0123456789ab.x", disabled, expired, chatKey, "x"];
  const replies = await Promise.all(tokens.map(self));
  expect(replies.map(({ status }) => status)).toEqual(tokens.map(() => 401));
  expect(new Set(replies.map(({ message }) => message)).size).toBe(1);
  expect(replies[0]?.headers.get("www-authenticate")).toBe("Bearer");
  const none = await fetch(`${admin.url}/self`);
  expect(none.status).toBe(401);
});

test("an admin key cannot chat, and a path that does not exist needs a key, too", async () => {
  const token = await admin.makeKey(["keys:read"]);
  const reply = await admin.server.fetch("/v1/models", { headers: { authorization: `Bearer ${token}` } });
  expect(reply.status).toBe(401);
  expect((await fetch(`${admin.url}/nothing`)).status).toBe(401);
});

test("a missing scope is refused with its name, and recorded", async () => {
  const token = await admin.makeKey(["keys:read"]);
  const reply = await admin.call(token, "POST", "/keys", { name: "a" });
  expect([reply.status, reply.code, reply.message]).toEqual([
    403,
    "missing_scope",
    "This needs the scope keys:write, which the admin key portal does not have.",
  ]);
  const [entry] = await admin.audit();
  expect(entry).toMatchObject({
    action: "createKey",
    outcome: "refused",
    actor: { kind: "admin_key", name: "portal" },
    target: { name: "a" },
  });
  expect(entry?.from.address).toMatch(/127\.0\.0\.1$/);
});

test("browsers get no permission from the admin port", async () => {
  const reply = await fetch(`${admin.url}/self`, {
    method: "OPTIONS",
    headers: { origin: "https://evil.example", "access-control-request-method": "GET" },
  });
  expect([...reply.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
});

test("bytes that are not HTTP get the error envelope", async () => {
  const { hostname, port } = new URL(admin.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  socket.end("NOT HTTP\r\n\r\n");
  await new Promise((resolve) => socket.on("close", resolve));
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  expect(text).toContain('"code":"malformed_request"');
});

test("a flood of wrong keys is counted, and does not fill the audit log", async () => {
  await using flooded = await startAdmin();
  for (let sent = 0; sent < maxPerMinute * 3; sent += 10)
    await Promise.all(Array.from({ length: 10 }, () => flooded.call("wrong", "GET", "/self")));
  const before = await flooded.audit();
  // The run may have crossed the end of a minute.
  expect(before.length).toBeLessThanOrEqual(maxPerMinute * 2 + 1);
  expect(before[0]).toMatchObject({ action: "authenticate", outcome: "refused", actor: { kind: "unknown", name: "" } });
});
