import { describe, expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { play, toRefusal, withKey } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const short: readonly ScriptStep[] = [{ role: true }, { text: "Hello" }, { finish: "stop" }];
const server = useServer({ scenarios: { short } });
const unknown = "req_019ac5f2b1c8d4e0f7a2";

describe("ACCT-02 an id without a receipt", () => {
  test.each([
    unknown,
    "x",
    "a/b/c",
    "%2f",
    "__proto__",
    "a%00b",
    "'; DROP TABLE requests",
    "%F0%9F%9C%82",
    "x".repeat(7000),
  ])("%s", async (id) => {
    expect(await toRefusal(await server().fetch(`/usage/${id}`))).toMatchObject({
      status: 404,
      code: "request_not_found",
      param: "request_id",
    });
  });
});

test("ACCT-03 a request of another key is answered in the words for one that does not exist", async () => {
  const response = await server().chat(play("short"), withKey(await server().makeKey()));
  const id = response.headers.get("x-request-id") ?? "";
  const other = withKey(await server().makeKey());
  const foreign = await toRefusal(await server().fetch(`/usage/${id}`, other));
  const none = await toRefusal(await server().fetch(`/usage/${unknown}`, other));
  expect(foreign).toMatchObject({ status: 404, code: "request_not_found" });
  expect(foreign.message.replace(id, "")).toBe(none.message.replace(unknown, ""));
  expect(foreign.param).toBe(none.param);
});

test("ACCT-04 a request that was refused has no receipt", async () => {
  const refused = await server().chat({ ...play("short"), temperature: 7 });
  expect(refused.status).toBe(400);
  const receipt = await server().fetch(`/usage/${refused.headers.get("x-request-id")}`);
  expect(receipt.status).toBe(404);
});

describe("HTTP-05 a path that serves nothing", () => {
  test.each(["/usage", "/usage/", "/usage//", "/usage/req_1/"])("%s", async (path) => {
    expect(await toRefusal(await server().fetch(path))).toMatchObject({ status: 404, code: "unknown_url" });
  });
});
