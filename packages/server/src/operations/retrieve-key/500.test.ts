import { expect, test } from "vitest";
import { breakKeys } from "../../../test/break-state.ts";
import { withKey } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();

test("ERR-08 a fault of our own tells nothing of itself", async () => {
  const key = withKey(await server().makeKey());
  const repair = breakKeys(server());
  const response = await server().fetch("/key", key);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toMatch(/SQL|table|stack|\.ts/);
  repair();
  expect((await server().fetch("/key", key)).status).toBe(200);
});
