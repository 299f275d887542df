import { expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { play, toRefusal } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const short: readonly ScriptStep[] = [{ role: true }, { text: "Hello" }, { finish: "stop" }];
const server = useServer({ scenarios: { short } });

test.each<[string, object]>([
  ["another member", { temperature: 0.5 }],
  ["another mode", { stream: true }],
])("IDEM-03 a key that was sent with another body is refused: %s", async (title, change) => {
  const init = { headers: { "idempotency-key": title } };
  const first = await server().chat(play("short"), init);
  await first.text();
  const refusal = await toRefusal(await server().chat({ ...play("short"), ...change }, init));
  expect(refusal).toMatchObject({ status: 422, code: "idempotency_key_reused", param: "Idempotency-Key" });
  expect(refusal.message).toContain(first.headers.get("x-request-id"));
  expect((await server().chat(play("short"), init)).headers.get("idempotent-replayed")).toBe("true");
});
