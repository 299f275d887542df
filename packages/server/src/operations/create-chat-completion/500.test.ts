import { expect, test } from "vitest";
import { withKey } from "@parley/server/testing";
import { breakKeys, breakSpending } from "../../../test/break-state.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer();

test("ERR-01 ERR-08 a fault of our own tells nothing of itself, and is in the log under its request id", async () => {
  const key = withKey(await server().makeKey({ budgetUsd: "1" }));
  const repair = breakSpending(server());
  const refusal = await server().refuse({}, key);
  expect(refusal).toMatchObject({ status: 500, code: "internal_error", type: "server_error", param: null });
  expect(refusal.message).not.toMatch(/SQL|spending|Error|\bat\b/);
  const id = refusal.headers.get("x-request-id") ?? "";
  const line = server().logLines.find((one) => one.includes(id) && one.includes('"level":50'));
  expect(line).toContain("no such table: spending");
  repair();
  expect((await server().chat({}, key)).status).toBe(200);
});

test("a fault before the key could be judged is one of ours, too", async () => {
  const key = withKey(await server().makeKey());
  const repair = breakKeys(server());
  expect(await server().refuse({}, key)).toMatchObject({ status: 500, code: "internal_error" });
  repair();
  expect((await server().chat({}, key)).status).toBe(200);
});
