import { expect, test } from "vitest";
import { testKey } from "@parley/server/testing";
import { exchange, requestText } from "../../../test/raw.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const headers = { Authorization: `Bearer ${testKey}` };

test("HTTP-22 a URL of more than 8192 characters is refused", async () => {
  const answer = await exchange(
    server().origin,
    requestText(`GET /v1/models/vendor/model-1?${"x".repeat(8192)}`, headers),
  );
  expect(answer?.status).toBe(414);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code: "invalid_value", param: null } });
});
