import { expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import { exchange, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const headers = { Authorization: `Bearer ${testKey}` };

test.each([
  ["more than 16384 bytes of headers", { ...headers, A: "x".repeat(17_000) }],
  ["more than 100 header fields", Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`A${index}`, ""]))],
])("HTTP-22 %s are refused", async (_title, many) => {
  const answer = await exchange(server().origin, requestText("GET /v1/models/vendor/model-1", many));
  expect(answer?.status).toBe(431);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code: "invalid_value", param: null } });
});
