import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "@parley/inference/testing";
import { addFault, faultTable, mountSmallDisk, outcomeOf, pidOf, processesOf } from "@parley/inference/testing/vllm";
import { engineOf, longAnswer, recordOf, shortAnswer, startService } from "./service.ts";
import type { Service } from "./service.ts";
import {
  assertCounted,
  assertDelivered,
  assertHonest,
  assertRightModel,
  takeReference,
  untilAnswered,
} from "./survive.ts";
import { watchStream } from "./watch-stream.ts";

/** The disk with the ledger and the logs becomes full while a real vLLM runs. */

const disk = mountSmallDisk(8);

afterAll(() => {
  disk?.unmount();
  faultTable.print();
});

describe.runIf(disk !== undefined)("the disk of the data folder is full", () => {
  const place = disk?.place ?? "";
  let service: Service;
  beforeAll(async () => {
    service = await startService({ mini: { engine: "vllm-process" }, settings: { dataDir: place } });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each([
    ["full disk of the data folder", false],
    ["full disk of the data folder, and SIGKILL of the engine core", true],
  ])("%s", async (fault, isKilled) => {
    const { server } = service;
    const reference = await takeReference(service);
    const wanted = 1000;
    const open = Array.from({ length: 6 }, () => watchStream(server, { ...longAnswer, max_completion_tokens: wanted }));
    await until("tokens come on every stream", () => open.every(({ tokens }) => tokens > 8), 60_000);
    const { group } = recordOf(place);
    const actedAt = performance.now();
    disk?.fill();
    // The server accepts no request that it could not charge.
    await until("it is noticed", async () => (await server.chat(shortAnswer)).status === 503, 60_000);
    const noticedMs = performance.now() - actedAt;
    if (isKilled) {
      process.kill(pidOf(group, "core"), "SIGKILL");
      await until("the engine's end is noticed", () => engineOf(service).state !== "ready", 60_000);
    }
    const seen = await Promise.all(open.map((stream) => stream.seen));
    if (isKilled) await until("a start fails for it", () => /no space/i.test(engineOf(service).stateReason), 60_000);
    expect(isKilled ? processesOf(group) : []).toEqual([]);
    disk?.free();
    const freedAt = performance.now();
    await untilAnswered(server);
    const whole = seen.filter(({ end }) => end === "whole").length;
    addFault({
      driver: "process",
      fault: `${fault} (recovery from the moment it has room)`,
      outcome: outcomeOf(seen.length, whole),
      noticedMs,
      recoveredMs: performance.now() - freedAt,
    });
    assertHonest(seen, wanted);
    expect(whole).toBe(isKilled ? 0 : seen.length);
    assertRightModel(seen, reference);
    await until("the ledger is written", async () =>
      (await server.ledger()).every(({ ended_ms }) => ended_ms !== null),
    );
    assertDelivered(seen, await server.ledger(), wanted);
    await assertCounted(service, reference);
  });
});
