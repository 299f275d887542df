import { expect, test } from "vitest";
import { miniId, modelId, play, say, until } from "@parley/server/testing";
import type { Refusal } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const server = useServer({ scenarios: { die: [{ die: true }] } });

interface Readiness {
  readonly http: number;
  readonly status: string;
}

interface Look {
  readonly refusal: Refusal;
  readonly streamed: Refusal;
  /** To a prompt that would not fit the context, and to an unknown model. */
  readonly withFaults: readonly Refusal[];
  readonly isReady: readonly (readonly [id: string, isReady: boolean])[];
  readonly otherModel: string;
  readonly ready: Readiness;
  readonly modelReady: Readiness;
}

async function readiness(query = ""): Promise<Readiness> {
  const response = await fetch(`${server().origin}/ready${query}`);
  const { status } = (await response.json()) as { status: string };
  return { http: response.status, status };
}

/** Returns the answers that callers get now. */
async function look(): Promise<Look> {
  const refusal = await server().refuse(play("die"));
  const streamed = await server().refuse({ stream: true, ...play("die") });
  const { data } = (await (await server().fetch("/models")).json()) as { data: { id: string; is_ready: boolean }[] };
  return {
    refusal,
    streamed,
    withFaults: [await server().refuse(say("x".repeat(140_000))), await server().refuse({ model: "vendor/nobody" })],
    isReady: data.map(({ id, is_ready }) => [id, is_ready]),
    otherModel: (await server().complete({ model: miniId })).model,
    ready: await readiness(),
    modelReady: await readiness(`?model=${modelId}`),
  };
}

/** An engine is back soon, sometimes at once: a look counts when it was down from its beginning to its end. */
async function lookWhileDown(): Promise<Look> {
  const engine = server().running.models.find(({ id }) => id === modelId)?.engine;
  const downSince = (): number | undefined => (engine?.state === "ready" ? undefined : engine?.gauges().restarts);
  for (;;) {
    await (await server().chat(play("die"))).text();
    const before = downSince();
    if (before === undefined) continue;
    const seen = await look().catch((error: unknown) => error);
    if (downSince() !== before) continue;
    if (seen instanceof Error) throw seen;
    return seen as Look; // it was not thrown
  }
}

test("OPS-01 OPS-05 OPS-06 OPS-08 an engine that is down", async () => {
  const { refusal, streamed, withFaults, ...rest } = await lookWhileDown();
  expect(refusal).toMatchObject({ status: 503, code: "service_unavailable", type: "server_error", param: null });
  expect(Number(refusal.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(Number(refusal.headers.get("retry-after-ms"))).toBeGreaterThanOrEqual(1);
  expect(streamed).toMatchObject({ status: 503 });
  // HTTP-21: readiness stands behind the model and before the context.
  expect(withFaults.map(({ status }) => status)).toEqual([503, 404]);
  // The other one answers for itself, and is still enough to be ready.
  expect(rest).toEqual({
    isReady: [
      [modelId, false],
      [miniId, true],
    ],
    otherModel: miniId,
    ready: { http: 200, status: "ready" },
    modelReady: { http: 503, status: "not_ready" },
  });
  await until(
    () => readiness(`?model=${modelId}`),
    ({ status }) => status === "ready",
  );
  expect((await server().chat()).status).toBe(200);
});
