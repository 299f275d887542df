import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { modelId, play, testKey, until } from "@parley/server/testing";
import { RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

const server = useServer({ scenarios: { stall: [{ role: true }, { text: "a" }, { stall: true }] } });

/** Returns the memory in use after two full garbage collections. The second one frees buffers whose owners the first one finds dead. */
function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void; // this flag makes it
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Sends a chat that never ends, and waits for the first word of its answer. */
async function open(body: string): Promise<RawConnection> {
  const connection = await RawConnection.open(server().origin);
  const headers = {
    authorization: `Bearer ${testKey}`,
    "content-type": "application/json",
    "content-length": String(body.length),
  };
  connection.send(requestText("POST /v1/chat/completions", headers, body));
  await until(
    () => connection.rest,
    (rest) => rest.includes('"content":"a"'),
  );
  return connection;
}

test("a running request does not keep its body", async () => {
  const megabytes = 3;
  const small = { model: modelId, ...play("stall"), stream: true };
  const body = JSON.stringify({ ...small, unknown: "x".repeat(megabytes * 1e6) });
  using connections = new DisposableStack();
  // The first requests also load code and data that every request needs.
  for (let count = 0; count < 2; count += 1) connections.use(await open(body));
  const before = usedBytes();
  for (let count = 0; count < 6; count += 1) connections.use(await open(body));
  // The garbage collector may still reach the last body. All six bodies, as bytes or as text and value, would be at least 18
  // MB.
  expect(usedBytes() - before).toBeLessThan(4 * megabytes * 1e6);
});

test("a running request does not keep its messages, once their prompt is rendered", async () => {
  const kilobytes = 100;
  const count = 40;
  const [asked] = play("stall").messages;
  const long = { role: "user", content: "x".repeat(kilobytes * 1000) };
  const body = JSON.stringify({ model: modelId, messages: [long, asked], stream: true });
  using connections = new DisposableStack();
  for (let at = 0; at < 2; at += 1) connections.use(await open(body));
  const before = usedBytes();
  for (let at = 0; at < count; at += 1) connections.use(await open(body));
  expect(usedBytes() - before).toBeLessThan((count * kilobytes * 1000) / 2);
});
