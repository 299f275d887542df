import { describe, expect, test } from "vitest";
import { play, say, toRefusal, until, withKey } from "@parley/server/testing";
import { useServer } from "../../../test/use-server.ts";

const scenarios = { stall: [{ role: true, tokens: 0 }, { stall: true }] } as const;

describe("a key that fills slots and queue", () => {
  const server = useServer({ scenarios, settings: { queueLength: 2 } });

  test("does not shut another key out", async () => {
    const greedy = withKey(await server().makeKey());
    const other = withKey(await server().makeKey());
    const stalls = await Promise.all(
      Array.from({ length: 8 }, () => server().chat({ ...play("stall"), n: 8, stream: true }, greedy)),
    );
    // This one has the spare slot.
    stalls.push(await server().chat({ ...play("stall"), stream: true }, withKey(await server().makeKey())));
    const waiting = [0, 1].map(() => server().chat(say("wait"), greedy));
    const waits = (requests: number): Promise<number> =>
      until(
        () => server().gauge('parley_queue_waiting{model="vendor/model-1"}'),
        (count) => count === requests,
      );
    await waits(2);
    const small = server().chat({}, other);
    // One of the greedy key's requests gives way.
    const dropped = await Promise.race(waiting);
    expect(await toRefusal(dropped)).toMatchObject({ status: 429, code: "capacity_exhausted" });
    await stalls[0]?.body?.cancel();
    expect((await small).status).toBe(200);
    expect((await Promise.all(waiting)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429]);
    await Promise.all(stalls.map(async (response) => response.body?.cancel()));
  });
});

describe("a key that keeps all slots", () => {
  const server = useServer({ scenarios, settings: { queueLength: 2, queueWaitMs: 60_000 } });

  test("leaves a spare one to a key that has none", async () => {
    const greedy = withKey(await server().makeKey());
    const gone = new AbortController();
    const stalls = await Promise.all(
      Array.from({ length: 8 }, () => server().chat({ ...play("stall"), n: 8, stream: true }, greedy)),
    );
    const waiting = server().chat({}, { ...greedy, signal: gone.signal });
    await until(
      () => server().gauge('parley_queue_waiting{model="vendor/model-1"}'),
      (count) => count === 1,
    );
    for (const key of [await server().makeKey(), await server().makeKey()])
      expect((await server().chat({}, withKey(key))).status).toBe(200);
    expect(await server().gauge('parley_queue_waiting{model="vendor/model-1"}')).toBe(1);
    gone.abort();
    await expect(waiting).rejects.toThrow("aborted");
    await Promise.all(stalls.map(async (response) => response.body?.cancel()));
  });
});

describe("keys that always have requests waiting", () => {
  const server = useServer({ scenarios });

  test("have turns by their weights", async () => {
    const key = async (weight: number) => withKey(await server().makeKey({ weight }));
    const [filling, heavy, light] = [await key(1), await key(4), await key(1)];
    const whole = { ...play("stall"), n: 8, stream: true };
    const stalls = await Promise.all(Array.from({ length: 8 }, () => server().chat(whole, filling)));
    const ended: string[] = [];
    const ask = async (name: string, key: ReturnType<typeof withKey>): Promise<void> => {
      await (await server().chat({ ...say("turn"), n: 8 }, key)).json();
      ended.push(name);
    };
    const asked: Promise<void>[] = [];
    for (const name of ["heavy", "heavy", "heavy", "heavy", "light", "light"]) {
      asked.push(ask(name, name === "heavy" ? heavy : light));
      await until(
        () => server().gauge('parley_queue_waiting{model="vendor/model-1"}'),
        (count) => count === asked.length,
      );
    }
    await stalls[0]?.body?.cancel();
    await Promise.all(asked);
    expect(ended).toEqual(["heavy", "light", "heavy", "heavy", "heavy", "light"]);
    await Promise.all(stalls.map(async (response) => response.body?.cancel()));
  });
});
