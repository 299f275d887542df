import { expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { play } from "@parley/server/testing";
import { breakLedger } from "../../../test/break-state.ts";
import { useServer } from "../../../test/use-server.ts";

const short: readonly ScriptStep[] = [{ role: true }, { text: "Hello" }, { finish: "stop" }];
const server = useServer({ scenarios: { short } });

test("ERR-08 records that cannot be read are a fault of our own, which tells nothing of itself", async () => {
  const answer = await server().chat(play("short"));
  const path = `/usage/${answer.headers.get("x-request-id")}`;
  const repair = breakLedger(server());
  const response = await server().fetch(path);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toMatch(/SQL|table|stack|\.ts/);
  repair();
  expect((await server().fetch(path)).status).toBe(200);
});
