import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeScriptedVllm } from "@parley/inference/testing";
import { judgeStream, miniId, modelId, startTestServer, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

// Two models with engines in processes of their own: a failure of one does not affect the other.

let folder: string;
let server: TestServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-"));
  writeScriptedVllm(join(folder, "venv"), { paceMs: 2 });
  const settings = { engine: "vllm-process", vllm: join(folder, "venv"), dataDir: folder } as const;
  server = await startTestServer({ settings });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Reads the process id of a model's engine from the run state, by which a later server would find it. */
function pidOf(model: string): number {
  const isOf = new RegExp(`^${model.replace("/", "-")}-[0-9a-f]{6}\\.json$`);
  const file = readdirSync(join(folder, "engines")).find((name) => isOf.test(name));
  const record = JSON.parse(readFileSync(join(folder, "engines", file ?? ""), "utf8")) as { readonly group: number };
  return record.group;
}

const isReady = async (model: string): Promise<boolean> => (await fetch(`${server.origin}/ready?model=${model}`)).ok;
const ask = { max_completion_tokens: 5 };

describe("one of two engines dies in the middle of a stream", () => {
  test("its stream is a failure, its model is not ready, the other one answers; and it comes back", async () => {
    const members = { model: modelId, max_completion_tokens: 1500 };
    const response = await server.chat({ ...members, stream: true });
    expect(response.status).toBe(200);
    process.kill(pidOf(modelId), "SIGKILL");
    const { end, error } = judgeStream(members, await response.text());
    expect([end, error?.code]).toEqual(["failed", "upstream_error"]);
    await until(
      () => isReady(modelId),
      (ready) => !ready,
    );
    expect(await isReady(miniId)).toBe(true);
    expect((await server.complete({ ...ask, model: miniId })).model).toBe(miniId);
    expect((await server.refuse({ ...ask, model: modelId })).code).toBe("service_unavailable");
    const list = (await (await server.fetch("/models")).json()) as { data: { id: string; is_ready: boolean }[] };
    expect(list.data.map(({ id, is_ready }) => [id, is_ready])).toEqual([
      [modelId, false],
      [miniId, true],
    ]);
    await until(() => isReady(modelId), Boolean, 30_000);
    expect((await server.complete({ ...ask, model: modelId })).model).toBe(modelId);
  });

  test("the delivered tokens are in the ledger", async () => {
    const [cancelled] = await server.ledger();
    expect(cancelled).toMatchObject({ model: modelId });
    expect(cancelled?.completion_tokens).toBeGreaterThan(0);
    expect(cancelled?.completion_tokens).toBeLessThan(1500);
  });
});
