import { expect, test } from "vitest";
import { miniId, modelId, play, until } from "../../../test/harness.ts";
import { useServer } from "../../../test/use-server.ts";

const server = useServer({ scenarios: { die: [{ die: true }] } });

test("OPS-01 OPS-05 OPS-06 OPS-08 an engine that is down", async () => {
  await server().chat(play("die"));
  const refusal = await until(
    () => server().refuse(play("die")),
    ({ status }) => status === 503,
  );
  expect(refusal).toMatchObject({ code: "service_unavailable", type: "server_error", param: null });
  expect(Number(refusal.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(Number(refusal.headers.get("retry-after-ms"))).toBeGreaterThanOrEqual(1);
  expect(await server().refuse({ stream: true, ...play("die") })).toMatchObject({ status: 503 });

  const { data } = (await (await server().fetch("/models")).json()) as { data: { id: string; is_ready: boolean }[] };
  expect(data.map(({ id, is_ready }) => [id, is_ready])).toEqual([
    [modelId, false],
    [miniId, true],
  ]);
  // The other one answers for itself, and is still enough to be ready.
  expect((await server().complete({ model: miniId })).model).toBe(miniId);
  expect((await fetch(`${server().origin}/ready`)).status).toBe(200);
  expect((await fetch(`${server().origin}/ready?model=${modelId}`)).status).toBe(503);

  await until(
    async () => (await server().chat()).status,
    (status) => status === 200,
  );
});
