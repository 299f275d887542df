import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { Server, ServerResponse } from "node:http";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { EngineError } from "../engine.ts";
import { bytesOf } from "../../test/cuts.ts";
import { collectGarbage } from "../../testing/collect-garbage.ts";
import { handOver } from "../prompt/hand-over.ts";
import { ChildConnection } from "./connect.ts";
import { probeRequest } from "../probe.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-"));
const socketPath = join(folder, "s.sock");
const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
const counted = { kind: "usage", usage };
const role = { kind: "role", choice: 0 };
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
/** The text of a prompt. */
const takeText = (): Buffer => Buffer.from("[]");
const patience = (): AbortSignal => AbortSignal.timeout(10_000);

let server: Server;
let answer: (response: ServerResponse) => unknown;
let connection: ChildConnection;
beforeAll(async () => {
  server = createServer((_request, response) => answer(response)).listen(socketPath);
  await once(server, "listening");
  connection = new ChildConnection(socketPath);
});
afterAll(() => {
  connection.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const events = async (signal = patience()): Promise<unknown[]> =>
  (await Array.fromAsync(connection.generate(probeRequest, takeText, signal))).flat();
const kindOf = (error: unknown): unknown => (error instanceof EngineError ? error.kind : error);

describe("the driver's end of the socket", () => {
  test("reads events wherever their bytes are split", async () => {
    const text = { kind: "text", choice: 0, text: "🦀", tokens: [] };
    answer = async (response) => {
      for (const byte of bytesOf(line(counted) + line(role) + line(text))) {
        response.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      response.end();
    };
    await expect(events()).resolves.toEqual([counted, role, text]);
  });

  test("gives events that arrive together as one batch, also those before a failure", async () => {
    answer = (response) => response.end(line(role) + line(role) + line({ kind: "failed", message: "no memory" }));
    const batches: unknown[] = [];
    const reading = (async () => {
      for await (const batch of connection.generate(probeRequest, takeText, patience())) batches.push(batch);
    })();
    await expect(reading).rejects.toThrow("no memory");
    expect(batches).toEqual([[role, role]]);
  });

  test("a caller who leaves with the last byte gets its reason, and no error is left over", async () => {
    answer = (response) => response.end(line(role) + line(counted));
    for (let turn = 0; turn < 200; turn += 1) {
      const hangUp = new AbortController();
      const reading = (async () => {
        for await (const _batch of connection.generate(probeRequest, takeText, hangUp.signal))
          hangUp.abort(new Error("the caller is gone"));
      })();
      await expect(reading).rejects.toThrow("the caller is gone");
    }
  });

  test.each<[string, (response: ServerResponse) => void, string]>([
    ["a refusal", (response: ServerResponse) => response.writeHead(400).end('{"message": "no"}'), "rejected"],
    ["a failure", (response: ServerResponse) => response.writeHead(500).end('{"message": "no memory"}'), "crashed"],
    [
      "a failure in the middle",
      (response: ServerResponse) => response.end(line(role) + line({ kind: "failed", message: "no" })),
      "crashed",
    ],
    [
      "a broken connection",
      (response: ServerResponse) => void (response.write(line(role)), setImmediate(() => response.destroy())),
      "crashed",
    ],
    ["no answer at all", (response: ServerResponse) => response.destroy(), "crashed"],
    ["a line that is not JSON", (response: ServerResponse) => response.end(`${line(role)}oops\n`), "protocol"],
    ["JSON that is not an event", (response: ServerResponse) => response.end(line({ hello: 1 })), "protocol"],
    ["nothing worth the name", (response: ServerResponse) => response.end("null\n"), "protocol"],
    ["a refusal that is none", (response: ServerResponse) => response.writeHead(400).end("<html>"), "protocol"],
  ])("%s is an error of its kind", async (_title, reply, kind) => {
    answer = reply;
    await expect(events().catch(kindOf)).resolves.toBe(kind);
  });

  test.each(["prepare", "status"] as const)("%s breaks off as an error of its kind, too", async (method) => {
    answer = (response) => {
      response.writeHead(200, { "prompt-tokens": 2 }).write("{");
      setImmediate(() => response.destroy());
    };
    const asked: Promise<unknown> =
      method === "status" ? connection.status(patience()) : connection.prepare(probeRequest, patience());
    await expect(asked.catch(kindOf)).resolves.toBe("crashed");
  });

  test("a prepared prompt has the count of the engine, and a text that only the engine reads", async () => {
    answer = (response) => response.writeHead(200, { "prompt-tokens": 3 }).end("[1,2,3]");
    await expect(connection.prepare(probeRequest, patience())).resolves.toEqual({
      tokens: 3,
      text: Buffer.from("[1,2,3]"),
    });
  });

  test.each<[string, (response: ServerResponse) => void, object]>([
    ["nobody counted", (response) => response.end("[1]"), { name: "EngineError", kind: "protocol" }],
    ["is refused", (response) => response.writeHead(400).end('{"message": "no"}'), { kind: "rejected" }],
    [
      "is too long",
      (response) => response.writeHead(413).end('{"message": "too long", "tokens": 70000}'),
      { name: "PromptTooLongError", tokens: 70_000 },
    ],
  ])("a prompt that %s is an error of its kind", async (_title, reply, want) => {
    answer = reply;
    await expect(connection.prepare(probeRequest, patience())).rejects.toMatchObject(want);
  });

  test("the text of a prompt is sent behind its request, and is let go of once the answer begins", async () => {
    let sent = "";
    answer = async (response) => {
      sent = await text(response.req);
      response.write(line(role));
    };
    await collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    const megabytes = 8;
    const take = handOver(Buffer.from(`[${"7,".repeat(megabytes * 2 ** 19)}7]`));
    const events = connection.generate(probeRequest, take, patience());
    await events.next();
    expect(sent.slice(0, sent.indexOf("\n") + 5)).toBe(`${JSON.stringify(probeRequest)}\n[7,7`);
    await vi.waitFor(async () => {
      await collectGarbage();
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(megabytes * 2 ** 19);
    }, 5000);
    await events.return(undefined);
  });

  test("a socket without a listener is reported as unavailable", async () => {
    const nobody = new ChildConnection(join(folder, "none.sock"));
    await expect(nobody.status(patience()).catch(kindOf)).resolves.toBe("unavailable");
  });

  test("an aborted signal ends the stream with its reason, and hangs up", async () => {
    const hungUp = Promise.withResolvers<void>();
    answer = (response) => {
      response.on("close", hungUp.resolve);
      response.write(line(role));
    };
    const hangUp = new AbortController();
    const reading = (async () => {
      for await (const _event of connection.generate(probeRequest, takeText, hangUp.signal))
        hangUp.abort(new Error("gone"));
    })();
    await expect(reading).rejects.toThrow("gone");
    await expect(hungUp.promise).resolves.toBeUndefined();
  });
});
