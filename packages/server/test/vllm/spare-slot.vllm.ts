import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "@parley/inference/testing";
import { miniId, withKey } from "@parley/server/testing";
import { longAnswer, readMetrics, shortAnswer, startService } from "./service.ts";
import type { Service } from "./service.ts";

/** A real vLLM whose slots are all taken by one key. It is started with one sequence more than it has slots. */

const slots = 2;
let service: Service;
beforeAll(async () => {
  service = await startService({ mini: { engine: "vllm-process", slots } });
});
afterAll(() => service[Symbol.asyncDispose]());

interface Answer {
  readonly tokens: () => number;
  readonly leave: () => void;
}

/** Starts a stream that is longer than this test, and counts its tokens. */
async function startEndless(key: ReturnType<typeof withKey>): Promise<Answer> {
  const gone = new AbortController();
  const members = { ...longAnswer, max_completion_tokens: 16_000, logprobs: true, stream: true };
  const response = await service.server.chat(members, { ...key, signal: gone.signal });
  expect(response.status).toBe(200);
  let tokens = 0;
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? [])
      tokens += decoder.decode(bytes, { stream: true }).split('"logprob":').length - 1;
  };
  read().catch(() => undefined); // it is aborted at the end
  return { tokens: () => tokens, leave: () => gone.abort() };
}

/** Reads the number of vLLM's sequences. */
async function sequences(): Promise<{ readonly running: number; readonly waiting: number }> {
  const valueOf = await readMetrics(service.socketPath());
  return { running: valueOf("num_requests_running"), waiting: valueOf("num_requests_waiting") };
}

const waitingHere = (): Promise<number> => service.server.gauge(`parley_queue_waiting{model="${miniId}"}`);

test("a key that fills all slots leaves the sequence beyond them to a key that has none", async () => {
  const { server } = service;
  const greedy = withKey(await server.makeKey());
  const other = withKey(await server.makeKey());
  const filling = [await startEndless(greedy), await startEndless(greedy)];
  await until("vLLM works on all slots", () => filling.every(({ tokens }) => tokens() > 0));

  let isAnswered = false;
  const third = server.chat(shortAnswer, greedy).finally(() => (isAnswered = true));
  await until("the third request of the greedy key waits", async () => (await waitingHere()) === 1);
  expect(await sequences()).toEqual({ running: slots, waiting: 0 });

  const patience = AbortSignal.timeout(15_000);
  expect((await server.chat(shortAnswer, { ...other, signal: patience })).status).toBe(200);
  // A longer answer, so vLLM is still working on it.
  const longer = await startEndless(other);
  await until("the other key's stream has tokens", () => longer.tokens() > 0);
  const before = filling.map(({ tokens }) => tokens());
  expect(await sequences()).toEqual({ running: slots + 1, waiting: 0 });
  await until("all three streams go on", () => filling.every(({ tokens }, at) => tokens() > (before[at] ?? 0)));
  longer.leave();
  await until("the sequence is free again", async () => (await sequences()).running === slots);
  expect([isAnswered, await waitingHere()]).toEqual([false, 1]);

  filling[0]?.leave();
  expect((await third).status).toBe(200);
  filling[1]?.leave();
});
