import { setTimeout as wait } from "node:timers/promises";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { gather, gatherMs } from "./gather.ts";

const openBody = (): Readable => new Readable({ read: () => undefined, highWaterMark: 64 * 1024 });

/** Reads a body to its end in the background. */
function read(body: Readable): { readonly batches: string[]; readonly end: Promise<unknown> } {
  const batches: string[] = [];
  const loop = async (): Promise<unknown> => {
    try {
      for await (const bytes of gather(body)) batches.push(bytes.toString());
    } catch (error) {
      return error;
    }
    return undefined;
  };
  return { batches, end: loop() };
}

describe("the bytes of an answer", () => {
  test("are read at once when they are the first, and together from then on", async () => {
    const body = openBody();
    const { batches, end } = read(body);
    body.push("a");
    await wait(5);
    expect(batches).toEqual(["a"]);
    for (const byte of "bcdef") {
      body.push(byte);
      await wait(1);
    }
    body.push("g");
    body.push(null);
    expect(await end).toBeUndefined();
    expect(batches.join("")).toBe("abcdefg");
    // A slow machine may need more than 50 ms for the six.
    expect(batches.length).toBeLessThanOrEqual(4);
  });

  test("do not wait for the end when it takes longer", async () => {
    const body = openBody();
    const { batches } = read(body);
    body.push("a");
    await wait(5);
    body.push("b");
    await wait(gatherMs + 200);
    expect(batches).toEqual(["a", "b"]);
  });

  test.each([
    ["with its bytes", (body: Readable): void => void body.push("bc")],
    ["later", (): void => undefined],
  ])("end at once when the stream ends %s", async (_title, pushMore) => {
    const body = openBody();
    const { batches, end } = read(body);
    body.push("a");
    await wait(5);
    const startedMs = performance.now();
    pushMore(body);
    body.push(null);
    expect(await end).toBeUndefined();
    expect(performance.now() - startedMs).toBeLessThan(gatherMs - 10);
    expect(batches[0]).toBe("a");
  });

  test("are read when there is no room for more", async () => {
    const body = openBody();
    const { batches } = read(body);
    body.push("a");
    await wait(5);
    const startedMs = performance.now();
    body.push("b".repeat(40_000));
    body.push("c".repeat(40_000));
    while (batches.length < 2) await wait(1);
    expect(performance.now() - startedMs).toBeLessThan(gatherMs - 10);
    expect(batches[1]).toHaveLength(80_000);
  });

  test("that came before a failure are passed on before it", async () => {
    const body = openBody();
    const { batches, end } = read(body);
    body.push("a");
    await wait(5);
    body.push("b");
    await wait(1);
    body.destroy(new Error("cut"));
    expect(await end).toEqual(new Error("cut"));
    expect(batches).toEqual(["a", "b"]);
  });

  test("stay where they are when the reader leaves", async () => {
    const body = openBody();
    body.push("a");
    for await (const _bytes of gather(body)) break;
    body.push("b");
    await wait(gatherMs + 20);
    expect(body.read()).toEqual(Buffer.from("b"));
    expect(body.listenerCount("readable") + body.listenerCount("end") + body.listenerCount("close")).toBe(0);
  });
});
