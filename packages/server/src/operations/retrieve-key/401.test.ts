import { describe, test } from "vitest";
import { assertUnauthorized, badAuthorizations } from "../../../test/unauthorized.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();

describe("AUTH-08 AUTH-09 AUTH-10 AUTH-14 a 401, with", () => {
  test.each(badAuthorizations)("%s", async (_title, lines, says) => {
    await assertUnauthorized(server(), "GET /v1/key", lines, says);
  });
});
