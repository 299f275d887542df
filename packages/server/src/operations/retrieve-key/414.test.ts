import { expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { exchange, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const { maxUrlCharacters } = contract["x-limits"];
const server = useServer();
const headers = { Authorization: `Bearer ${testKey}` };

test("HTTP-22 a URL that is longer than the contract allows is refused", async () => {
  const answer = await exchange(
    server().origin,
    requestText(`GET /v1/key?${"x".repeat(maxUrlCharacters.value)}`, headers),
  );
  expect(answer?.status).toBe(414);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code: "invalid_value", param: null } });
});

test("HTTP-22 a URL of exactly that length is read", async () => {
  const path = "/v1/key?".padEnd(maxUrlCharacters.value, "x");
  expect((await exchange(server().origin, requestText(`GET ${path}`, headers)))?.status).toBe(200);
});
