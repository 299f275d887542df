import { describe, test } from "vitest";
import { testKey } from "@parley/server/testing";
import { assertUnauthorized, badAuthorizations, keyInUrl, noneSent } from "../../../test/unauthorized.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();

describe("AUTH-08 AUTH-09 AUTH-10 AUTH-14 a 401, with", () => {
  test.each(badAuthorizations)("%s", async (_title, lines, says) => {
    await assertUnauthorized(server(), "GET /v1/models", lines, says);
  });
});

describe("AUTH-11 the key is judged before the path and the method", () => {
  test.each([
    "GET /v1",
    "GET /v1/",
    "GET /v1/nothing",
    "GET /v1/v1/models",
    "GET /v1/models/",
    "PUT /v1/models",
    "OPTIONS /v1/models",
    "BREW /v1/models",
    "GET /v1/%",
    "GET http://127.0.0.1/v1/models",
    `GET /v1/models?key=${testKey}`,
  ])("%s", async (requestLine) => {
    // Node knows a closed list of methods.
    const says = requestLine.includes("?key") ? keyInUrl : noneSent;
    await assertUnauthorized(server(), requestLine.replace("BREW", "PROPFIND"), [], says);
  });
});
