import { expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { modelId, play, toRefusal } from "@parley/server/testing";
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

const [model, messages] = [JSON.stringify(modelId), JSON.stringify(play("short").messages)];

test.each([
  ["its members in another order", `{"messages":${messages},"model":${model}}`],
  ["other white space", `{ "model":${model},"messages":${messages}}`],
  ["a line end behind it", `{"model":${model},"messages":${messages}}\n`],
])("IDEM-03 a body is compared byte by byte, so it is another one with %s", async (title, body) => {
  const init = { headers: { "idempotency-key": title } };
  const first = `{"model":${model},"messages":${messages}}`;
  for (const [sent, status] of [
    [first, 200],
    [body, 422],
    [first, 200],
  ] as const) {
    const response = await server().chat({}, { ...init, body: sent });
    await response.text();
    expect(response.status).toBe(status);
  }
});
