import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Script } from "@parley/inference";
import { chatInit, judgeStream, play, testKey, withKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

// Load balancers and proxies that keep connections open, or cut silent ones.

const models = requestText("GET /v1/models", { authorization: `Bearer ${testKey}` });

describe("a connection without a request", () => {
  const short = useServer({ settings: { connectionIdleMs: 200 } });
  const usual = useServer();

  test("is closed when its time is over", async () => {
    using connection = await RawConnection.open(short().origin);
    expect((await connection.ask(models))?.status).toBe(200);
    const idleSince = performance.now();
    await connection.closed;
    expect(performance.now() - idleSince).toBeGreaterThanOrEqual(200);
  });

  test("takes the next request until then, and longer than the balancers that keep one for 600 s", async () => {
    using connection = await RawConnection.open(usual().origin);
    const first = await connection.ask(models);
    expect(Number(/timeout=(\d+)/.exec(first?.headers["keep-alive"] ?? "")?.[1])).toBeGreaterThan(600);
    await wait(1500);
    expect((await connection.ask(models))?.status).toBe(200);
  });
});

/** Opens a proxy that cuts a connection when the server sends nothing for `patienceMs`. */
async function openImpatientProxy(origin: string, patienceMs: number): Promise<Server & AsyncDisposable> {
  const { port, hostname } = new URL(origin);
  const proxy = createServer((caller) => {
    const server = connect(Number(port), hostname);
    let timer = setTimeout(() => caller.resetAndDestroy(), patienceMs);
    server.on("data", () => {
      clearTimeout(timer);
      timer = setTimeout(() => caller.resetAndDestroy(), patienceMs);
    });
    caller.on("close", () => (clearTimeout(timer), server.destroy())).on("error", () => undefined);
    server.on("error", () => undefined);
    caller.pipe(server).pipe(caller);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

describe("a proxy that cuts a silence of a second", () => {
  const scenarios: Script["scenarios"] = {
    slow: [{ wait_ms: 3000 }, { role: true }, { text: "one" }, { wait_ms: 3000 }, { finish: "stop" }],
  };
  const usual = useServer({ scenarios });
  const quick = useServer({ scenarios, settings: { firstEventMs: 100, keepAliveMs: 100 } });
  const asked = { ...play("slow"), stream: true };

  async function ask(server: TestServer): Promise<string> {
    await using proxy = await openImpatientProxy(server.origin, 1000);
    const { port } = proxy.address() as AddressInfo; // it listens on TCP
    const init = chatInit(asked, withKey(testKey));
    return (await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, init)).text();
  }

  test("cuts a stream with the usual settings, and not one that says something more often", async () => {
    await expect(ask(usual())).rejects.toThrow("fetch failed");
    const stream = await ask(quick());
    expect(stream).toMatch(/^: keep-alive\n/);
    expect(judgeStream(asked, stream).end).toBe("done");
  }, 30_000);
});
