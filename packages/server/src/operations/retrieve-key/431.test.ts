import { expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { exchange, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const { maxHeaderBytes, maxHeaderFields } = contract["x-limits"];
const fields = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`A${index}`, ""]));
const server = useServer();
const headers = { Authorization: `Bearer ${testKey}` };

test.each([
  ["more bytes of headers than the contract allows", { ...headers, A: "x".repeat(maxHeaderBytes.value) }],
  ["more header fields than the contract allows", fields(maxHeaderFields.value + 1)],
])("HTTP-22 %s are refused", async (_title, many) => {
  const answer = await exchange(server().origin, requestText("GET /v1/key", many));
  expect(answer?.status).toBe(431);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code: "invalid_value", param: null } });
});

test("HTTP-22 as many header fields as the contract allows are read", async () => {
  // Host, Connection and the key are fields, too.
  const many = { ...headers, ...fields(maxHeaderFields.value - 3) };
  expect((await exchange(server().origin, requestText("GET /v1/key", many)))?.status).toBe(200);
});
