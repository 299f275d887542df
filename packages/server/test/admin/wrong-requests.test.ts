import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAdmin } from "./use-admin.ts";
import type { AdminServer } from "./use-admin.ts";

let admin: AdminServer;
let token: string;
let keyId: string;

beforeAll(async () => {
  admin = await startAdmin();
  token = await admin.makeKey([
    "keys:read",
    "keys:write",
    "groups:read",
    "groups:write",
    "audit:read",
    "audit:prune",
    "usage:read",
    "usage:prune",
    "admin-keys:read",
    "admin-keys:write",
  ]);
  const { body } = await admin.call(token, "POST", "/keys", { name: "kept" });
  keyId = (body as { key: { id: string } }).key.id; // the answer of a creation
});
afterAll(() => admin[Symbol.asyncDispose]());

const deep = `{"name":${"[".repeat(200)}${"]".repeat(200)}}`;
/** A search of duplicates that compares all pairs would take seconds for it, and the server would do nothing else. */
const many = JSON.stringify({
  name: "a",
  ...Object.fromEntries(Array.from({ length: 6500 }, (_none, i) => [`m${i}`, 1])),
});
const group = "grp_0123456789ab";
const raise = { usd: "5", until: "2999-01-31T00:00:00Z" };

/** Wrong requests: method, path, body, the code and a part of the message. `KEY` stands for a key that exists. */
const wrong: readonly (readonly [method: string, path: string, body: unknown, code: string, message: RegExp])[] = [
  ["GET", "/nothing", undefined, "not_found", /no path \/admin\/v1\/nothing/],
  ["GET", "/keys/", undefined, "not_found", /no path/],
  ["GET", "/Keys", undefined, "not_found", /no path/],
  ["GET", "/keys/0123456789ab", undefined, "not_found", /no key 0123456789ab/],
  ["GET", "/keys/..%2F..%2Fself", undefined, "invalid_value", /^id /],
  ["GET", "/keys/a%2Fb", undefined, "invalid_value", /^id /],
  ["GET", "/keys/%00", undefined, "invalid_value", /^id /],
  ["GET", "/keys/%E0%A4%A", undefined, "malformed_request", /path is not valid/],
  ["GET", "/keys/__proto__", undefined, "invalid_value", /^id /],
  ["GET", "/keys/constructor", undefined, "invalid_value", /^id /],
  ["GET", "/groups/0123456789ab", undefined, "invalid_value", /^id /],
  ["PUT", "/keys/KEY", {}, "method_not_allowed", /GET and PATCH and DELETE/],
  ["DELETE", "/self", undefined, "method_not_allowed", /has GET/],
  ["GET", "/keys?limit=0", undefined, "invalid_value", /limit/],
  ["GET", "/keys?limit=1e9", undefined, "invalid_value", /limit/],
  ["GET", "/keys?limit=ten", undefined, "invalid_value", /limit/],
  ["GET", "/keys?after=zzz", undefined, "invalid_value", /`next` of a page/],
  ["GET", "/keys?state=gone", undefined, "invalid_value", /state/],
  ["GET", "/keys?grup=grp_0123456789ab", undefined, "unknown_parameter", /grup/],
  ["GET", "/usage?since=yesterday", undefined, "invalid_value", /since/],
  ["GET", "/audit?since=2026-13-45T00:00:00Z", undefined, "invalid_value", /since/],
  ["POST", "/keys", undefined, "invalid_json", /body is missing|required/],
  ["POST", "/keys", "", "invalid_json", /body is missing|required/],
  ["POST", "/keys", "{", "invalid_json", /not valid JSON: Expected property name or '}' in JSON at position 1/],
  ["POST", "/keys", "[]", "invalid_value", /object/],
  ["POST", "/keys", "null", "invalid_value", /object/],
  ["POST", "/keys", '"name"', "invalid_value", /object/],
  ["POST", "/keys", '{"name":"a","name":"b"}', "invalid_json", /twice/],
  ["POST", "/keys", '{"name":"a","na\\u006de":"b"}', "invalid_json", /twice/],
  ["POST", "/groups", '{"name":"g","key_ceiling":{"weight":1,"weight":2}}', "invalid_json", /twice/],
  ["POST", "/keys", String.raw`{"name":"a:b\"c:d\\","x":1}`, "unknown_parameter", /no member x/],
  ["POST", "/keys", many, "unknown_parameter", /no member m0/],
  ["POST", "/keys", deep, "invalid_json", /deeper/],
  ["POST", "/keys", { name: "a".repeat(70_000) }, "request_too_large", /65536/],
  ["POST", "/keys", { name: "a".repeat(201) }, "invalid_value", /name/],
  ["POST", "/keys", { name: 7 }, "invalid_value", /name/],
  ["POST", "/keys", { name: " " }, "invalid_value", /name/],
  ["POST", "/keys", { name: "a\u0000b" }, "invalid_value", /^name must not have control/],
  [
    "POST",
    "/keys",
    String.raw`{"name":"a\ud800"}`,
    "invalid_value",
    /^name must not have .* halves of surrogate pairs/,
  ],
  ["POST", "/keys", { name: "a\u202eb" }, "invalid_value", /^name must not have control/],
  ["POST", "/keys", { name: "a", expires: "2999-02-30T00:00:00Z" }, "invalid_value", /^expires must be a time such as/],
  ["GET", "/audit?since=2026-02-29T00:00:00Z", undefined, "invalid_value", /^since must be a time such as/],
  ["POST", "/groups", { name: "a\nb" }, "invalid_value", /^name must not have control/],
  ["POST", "/admin-keys", { name: "a\u009bb", scopes: ["keys:read"] }, "invalid_value", /name/],
  ["GET", "/audit?actor=%00", undefined, "invalid_value", /^actor must not have control/],
  ["GET", "/requests?model=%00", undefined, "invalid_value", /model/],
  ["GET", "/keys?name=%00", undefined, "invalid_value", /name/],
  ["POST", "/keys", {}, "missing_required_parameter", /name is required/],
  ["POST", "/keys", '{"name":"a","__proto__":{"weight":5}}', "unknown_parameter", /__proto__/],
  ["POST", "/keys", { name: "a", nmae: "b" }, "unknown_parameter", /Did you mean name\?/],
  ["POST", "/keys", { name: "a", budget: "5" }, "unknown_parameter", /Did you mean budget_usd\?/],
  ["POST", "/keys", { name: "a", requests_per_minute: 1.5 }, "invalid_value", /requests_per_minute/],
  ["POST", "/keys", { name: "a", requests_per_minute: "60" }, "invalid_value", /requests_per_minute/],
  ["POST", "/keys", '{"name":"a","weight":1e400}', "invalid_value", /weight/],
  ["POST", "/keys", { name: "a", weight: 101 }, "invalid_value", /weight/],
  ["POST", "/keys", { name: "a", budget_usd: "-1" }, "invalid_value", /budget_usd/],
  ["POST", "/keys", { name: "a", budget_usd: 5 }, "invalid_value", /^budget_usd must be string or null\.$/],
  ["POST", "/keys", { name: "a", expires: "2001-01-01T00:00:00Z" }, "invalid_value", /future/],
  ["POST", "/keys", { name: "a", models: ["vendor/model-9"] }, "invalid_value", /no model vendor\/model-9/],
  ["POST", "/keys", { name: "a", group_id: group }, "conflict", /no group grp_0123456789ab/],
  ["PATCH", "/keys/KEY", {}, "invalid_value", /properties/],
  ["PATCH", "/keys/KEY", { name: null }, "invalid_value", /name/],
  ["PATCH", "/keys/KEY", { budget_raise: raise }, "conflict", /^kept has no budget that could be raised/],
  ["PATCH", "/keys/KEY", { budget_usd: "5", budget_raise: { ...raise, usd: "0.000" } }, "invalid_value", /more than 0/],
  ["PATCH", "/keys/KEY", { budget_usd: "5", budget_raise: { ...raise, usd: "-1" } }, "invalid_value", /raise\.usd/],
  ["PATCH", "/keys/KEY", { budget_usd: "5", budget_raise: { ...raise, usd: 5 } }, "invalid_value", /raise\.usd/],
  [
    "PATCH",
    "/keys/KEY",
    { budget_usd: "5", budget_raise: { ...raise, until: "2001-01-01T00:00:00Z" } },
    "invalid_value",
    /^budget_raise\.until must be in the future/,
  ],
  ["PATCH", "/keys/KEY", { budget_raise: { ...raise, until: "soon" } }, "invalid_value", /raise\.until/],
  ["PATCH", "/keys/KEY", { budget_raise: { usd: "5" } }, "missing_required_parameter", /raise\.until is required/],
  ["PATCH", "/keys/KEY", { budget_raise: { ...raise, unitl: "" } }, "unknown_parameter", /Did you mean until\?/],
  ["PATCH", "/keys/KEY", { budget_rise: raise }, "unknown_parameter", /Did you mean budget_raise\?/],
  ["POST", "/keys", { name: "a", budget_usd: "5", budget_raise: raise }, "unknown_parameter", /budget_raise/],
  ["POST", "/groups", { name: "g", budget_usd: "5", budget_raise: raise }, "unknown_parameter", /budget_raise/],
  ["POST", "/keys/KEY/rotate", { overlap_seconds: 0 }, "invalid_value", /overlap_seconds/],
  ["POST", "/groups", { name: "g", period: "month" }, "invalid_value", /time zone/],
  [
    "POST",
    "/groups",
    { name: "g", period: "year", time_zone: "UTC" },
    "invalid_value",
    /values: day, week, month or null\.$/,
  ],
  ["POST", "/groups", { name: "g", parent_id: group }, "conflict", /no group/],
  ["POST", "/groups", { name: "g", key_ceiling: { wieght: 5 } }, "unknown_parameter", /Did you mean weight\?/],
  ["POST", "/admin-keys", { name: "a", scopes: [] }, "invalid_value", /scopes/],
  ["POST", "/admin-keys", { name: "a", scopes: ["everything"] }, "invalid_value", /scopes/],
  ["GET", "/usage?by=week", undefined, "invalid_value", /by/],
  ["GET", "/usage?key=nobody", undefined, "not_found", /no key nobody/],
  ["GET", "/usage?model=", undefined, "invalid_value", /model/],
  ["GET", "/requests?after=zzz", undefined, "invalid_value", /`next` of a page/],
  ["GET", "/requests?after=1.%00", undefined, "invalid_value", /`next` of a page/],
  ["GET", "/requests?order=sideways", undefined, "invalid_value", /order/],
  ["GET", "/requests?outcome=done", undefined, "invalid_value", /outcome/],
  ["GET", "/requests?ended_before=soon", undefined, "invalid_value", /ended_before/],
  ["GET", "/requests?group=team", undefined, "invalid_value", /group/],
  ["GET", "/requests/req_none", undefined, "not_found", /no request req_none/],
  ["GET", "/requests/%00", undefined, "invalid_value", /^id /],
  ["POST", "/usage/prune", {}, "missing_required_parameter", /before is required/],
  ["POST", "/usage/prune", { before: "2999-01-01T00:00:00Z" }, "invalid_value", /past/],
  ["POST", "/usage/prune", { before: "yesterday" }, "invalid_value", /before/],
  ["POST", "/audit/prune", { before: "2999-01-01T00:00:00Z" }, "invalid_value", /past/],
];

test.each(wrong)("%s %s with %j is %s", async (method, path, body, code, message) => {
  const before = await admin.local("listKeys", { id: undefined, query: {}, body: undefined });
  const reply = await admin.call(token, method, path.replace("KEY", keyId), body);
  expect([reply.code, reply.status >= 400 && reply.status < 500]).toEqual([code, true]);
  expect(reply.message).toMatch(message);
  expect(reply.text).not.toMatch(/node_modules|at .*\.js/);
  expect(reply.headers.get("x-request-id")).toBe((reply.body as { request_id: string }).request_id); // the envelope
  expect(reply.headers.get("cache-control")).toBe("no-store");
  expect(await admin.local("listKeys", { id: undefined, query: {}, body: undefined })).toEqual(before);
});

test.each([
  ["text/plain", "{}"],
  ["application/x-www-form-urlencoded", "name=a"],
])("a body of type %s is refused", async (type, body) => {
  const reply = await admin.call(token, "POST", "/keys", body, { "content-type": type });
  expect([reply.status, reply.code]).toEqual([415, "unsupported_media_type"]);
});

test("a body with a content coding is refused", async () => {
  const reply = await admin.call(token, "POST", "/keys", "{}", { "content-encoding": "gzip" });
  expect([reply.status, reply.code]).toEqual([415, "unsupported_media_type"]);
});

describe("the connection of a refused request", () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  afterAll(() => agent.destroy());

  async function send(method: string, path: string, body: string) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = request(`${admin.url}${path}`, {
      method,
      agent,
      headers: { ...headers, "content-length": body.length },
    });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return { status: response.statusCode, connection: response.headers.connection, isReused: sent.reusedSocket };
  }

  test.each([
    ["GET", "/nothing", "", 404],
    ["GET", "/keys?limit=0", "", 400],
    ["PUT", "/keys", "", 405],
    ["POST", "/keys", "{", 400],
    ["POST", "/keys/0123456789ab/disable", "", 404],
  ])("serves the next one after %s %s %s", async (method, path, body, status) => {
    await send("GET", "/self", "");
    expect(await send(method, path, body)).toEqual({ status, connection: "keep-alive", isReused: true });
    expect(await send("GET", "/self", "")).toEqual({ status: 200, connection: "keep-alive", isReused: true });
  });

  test("is closed, and says so, if the body was not read", async () => {
    const long = JSON.stringify({ name: "a".repeat(4_000_000) });
    expect(await send("POST", "/keys", long)).toMatchObject({ status: 413, connection: "close" });
  });
});

/** Times, names and users as people and URLSearchParams write them: with characters that OpenAPI calls reserved. */
test.each([
  ["/usage?since=2026-11-01T00:00:00Z&by=day", 200],
  ["/audit?since=2026-11-01T00:00:00Z&until=2999-11-01T00:00:00Z", 200],
  ["/audit/export?actor=j.doe@company.example", 200],
  ["/keys?name=search+%26+find", 200],
  ["/groups?name=a/b", 200],
  ["/keys?name=a&state=a:b", 400],
])("%s needs no further escapes", async (path, status) => {
  expect((await admin.call(token, "GET", path)).status).toBe(status);
});

test("a plus in a query is a space, as in a form", async () => {
  await admin.call(token, "POST", "/keys", { name: "search & find" });
  const { body } = await admin.call(token, "GET", `/keys?${String(new URLSearchParams({ name: "search & find" }))}`);
  expect(body).toMatchObject({ data: [{ name: "search & find" }] });
});
