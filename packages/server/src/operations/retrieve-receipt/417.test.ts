import { expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import { exchange, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const headers = { Authorization: `Bearer ${testKey}` };

test("AUTH-13 an expectation other than 100-continue is refused, once the key is known", async () => {
  const expecting = { ...headers, Expect: "miracles" };
  const answer = await exchange(server().origin, requestText("GET /v1/usage/req_1", expecting));
  expect(answer).toMatchObject({ status: 417, headers: { "x-ratelimit-limit-requests": "10000" } });
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code: "invalid_value", param: null } });
});
