import { describe, expect, test } from "vitest";
import { modelId, testKey, withKey } from "@parley/server/testing";
import { RawConnection, exchange, requestText } from "../../../test/raw.ts";
import { assertUnauthorized, badAuthorizations, keyInUrl } from "../../../test/unauthorized.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const body = JSON.stringify({ model: modelId, messages: [{ role: "user", content: "Hello" }] });

describe("AUTH-08 AUTH-09 AUTH-10 AUTH-14 LIM-03 a 401, with", () => {
  test.each(badAuthorizations)("%s", async (_title, lines, says) => {
    await assertUnauthorized(
      server(),
      "POST /v1/chat/completions",
      ["Content-Type: application/json", ...lines],
      says,
      body,
    );
  });

  test("AUTH-06 AUTH-15 a key in the query string", async () => {
    for (const name of ["api_key", "apiKey", "API-KEY", "x-api-key", "key", "access_token", "auth", "authorization"]) {
      await assertUnauthorized(server(), `POST /v1/chat/completions?${name}=${testKey}`, [], keyInUrl, body);
    }
  });
});

test("AUTH-12 AUTH-13 comes before the body is read, and before Expect is judged", async () => {
  for (const expectation of ["100-continue", "miracles"]) {
    using connection = await RawConnection.open(server().origin);
    const headers = { "Content-Type": "application/json", "Content-Length": "1000", Expect: expectation };
    connection.send(requestText("POST /v1/chat/completions", headers));
    expect((await connection.read("POST", "/v1/chat/completions"))?.status).toBe(401);
  }
});

test("AUTH-12 comes for a body that would be refused otherwise", async () => {
  const other = { "Content-Type": "text/plain", "Content-Length": "1000000000" };
  expect((await exchange(server().origin, requestText("POST /v1/chat/completions", other)))?.status).toBe(401);
});

test.each(["bearer", "BEARER", "bEaReR"])("AUTH-07 %s is the scheme, too", async (scheme) => {
  const headers = { authorization: `${scheme} ${testKey}` };
  expect((await server().chat({}, { headers })).status).toBe(200);
});

test("a key of the store is as good as that of the environment", async () => {
  const token = await server().makeKey({ expiresMs: Date.now() + 60_000 });
  expect((await server().chat({}, withKey(token))).status).toBe(200);
});
