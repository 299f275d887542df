import { afterAll, beforeAll, expect, test } from "vitest";
import { startAdmin } from "./use-admin.ts";
import type { AdminServer } from "./use-admin.ts";

/** Servers by the proxies that they trust. Their peer is always 127.0.0.1. */
const trusted = { none: [], another: ["10.0.0.0/8"], both: ["127.0.0.1", "10.0.0.0/8"] } as const;
const servers = new Map<keyof typeof trusted, AdminServer>();

beforeAll(async () => {
  for (const name of ["none", "another", "both"] as const)
    servers.set(name, await startAdmin({ settings: { trustedProxies: [...trusted[name]] } }));
});
afterAll(async () => {
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
});

const rows: readonly (readonly [
  title: string,
  trusted: keyof typeof trusted,
  forwarded: string | undefined,
  seen: string,
])[] = [
  ["no proxy is trusted, and the header is forged", "none", "203.0.113.7", "127.0.0.1"],
  ["another proxy is trusted, and the header is forged", "another", "203.0.113.7", "127.0.0.1"],
  ["the proxy is trusted", "both", "203.0.113.7", "203.0.113.7"],
  ["the client has an address of IPv6", "both", "2001:db8::7", "2001:db8::7"],
  ["the client has sent a header of its own", "both", "198.51.100.1, 203.0.113.7", "203.0.113.7"],
  ["two proxies are trusted", "both", "203.0.113.7, 10.1.2.3", "203.0.113.7"],
  ["the first proxy is not trusted", "both", "203.0.113.7, 192.0.2.1", "192.0.2.1"],
  ["the proxy names no client", "both", undefined, "127.0.0.1"],
  ["the proxy passes on a long text", "both", "x".repeat(9000), "x".repeat(64)],
];

test.each(rows)("when %s, the audit log has the right address", async (_title, name, forwarded, seen) => {
  const admin = servers.get(name);
  if (!admin) throw new Error("every server was started");
  const token = await admin.makeKey(["keys:write"]);
  const headers = forwarded === undefined ? undefined : { "x-forwarded-for": forwarded };
  expect((await admin.call(token, "POST", "/keys", { name: "done" }, headers)).status).toBe(201);
  expect((await admin.call(token, "GET", "/keys", undefined, headers)).status).toBe(403);
  expect((await admin.call("wrong", "GET", "/self", undefined, headers)).status).toBe(401);
  const entries = (await admin.audit()).slice(0, 3);
  expect(entries.map(({ action, from }) => [action, from.address])).toEqual([
    ["authenticate", seen],
    ["listKeys", seen],
    ["createKey", seen],
  ]);
});
