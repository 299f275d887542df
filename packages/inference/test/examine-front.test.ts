import { createServer, request as ask } from "node:http";
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { examineFront } from "../src/examine-front.ts";
import type { Finding } from "../src/finding.ts";
import { openWorkers } from "../testing/caching-workers.ts";
import type { Workers } from "../testing/caching-workers.ts";
import { closing, event, letters, start } from "../testing/remote-places.ts";
import { modelName } from "../testing/vllm/start-vllm.ts";
import { routers, startRouter } from "../testing/vllm/routers.ts";

/** `engine doctor --front` on workers with a prompt cache, behind routers with different policies. */

type Policy = (headers: IncomingHttpHeaders, turn: number) => number;

/** Forwards each request to the worker that the policy chooses. */
async function openRouter({ workers }: Workers, choose: Policy): Promise<string> {
  let turn = 0;
  const router = createServer((near, response) => {
    const { url = "" } = workers[choose(near.headers, turn++) % workers.length] ?? {};
    const far = ask(`${url}${near.url}`, { method: near.method, headers: near.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    far.on("error", () => response.destroy());
    near.pipe(far);
  }).listen(0, "127.0.0.1");
  await once(router, "listening");
  closing.push(async () => {
    router.closeAllConnections();
    router.close();
  });
  // A server that listens on a port has an address.
  return `http://127.0.0.1:${(router.address() as AddressInfo).port}`;
}

async function examine(url: string): Promise<readonly Finding[]> {
  const engine = await start([{ url }], { front: "vllm-router" });
  return examineFront("m", engine, "use the policy that works", 10_000);
}

const bySession: Policy = ({ "x-session-id": id }) => Buffer.from(String(id)).reduce((sum, byte) => sum + byte, 0);

test("sees that a router keeps conversations on their engine, and that two engines answer", async () => {
  const [cache, spread] = await examine(await openRouter(await openWorkers(2), bySession));
  expect(cache).toMatchObject({ problem: "", seen: expect.stringContaining("8 of 8 second turns") });
  expect(spread).toMatchObject({ seen: "2 engines answered 12 sessions with one prompt" });
});

test("sees that a router sends everything to one engine", async () => {
  const [cache, spread] = await examine(await openRouter(await openWorkers(2), () => 0));
  expect(cache?.problem).toBe("");
  expect(spread?.seen).toBe("1 engine answered 12 sessions with one prompt");
});

test.each([2, 3, 4])(
  "sees that conversations change among %i engines, and says which setting would work",
  async (count) => {
    const [cache, spread] = await examine(await openRouter(await openWorkers(count), (_headers, turn) => turn));
    expect(cache?.problem).toMatch(/use the policy that works/);
    expect(cache?.seen).toMatch(/^[0-7] of 8/);
    expect(spread?.seen).toBe(`${count} engines answered 12 sessions with one prompt`);
  },
);

test("does not believe counts for prompts that nobody has sent", async () => {
  const all = await openWorkers(1);
  const router = await openRouter(all, () => 0);
  const engine = await start([{ url: router }], { front: "vllm-router", isSalted: true });
  for (const worker of all.workers) {
    worker.answer = (response) => {
      const usage = { prompt_tokens: 500, completion_tokens: 8, prompt_tokens_details: { cached_tokens: 480 } };
      response.end(event({ choices: [{ token_ids: [...letters], finish_reason: "length" }], usage }) + event("[DONE]"));
    };
  }
  const [cache] = await examineFront("m", engine, "-", 10_000);
  expect(cache?.problem).toMatch(/its counts mean nothing/);
});

test.each(routers.filter(({ title }) => title === "vllm-router"))(
  "a real $title with two workers and consistent hashing passes",
  { timeout: 60_000 },
  async (router) => {
    const all = await openWorkers(2);
    for (const worker of all.workers) worker.listed = { ...worker.listed, id: modelName };
    const args: typeof router.args = (port, metricsPort, worker) =>
      router.args(port, metricsPort, worker).replace("round_robin", "consistent_hash");
    await using running = await startRouter({ ...router, args }, all.workers.map(({ url }) => url).join(" "));
    const engine = await start([running], { front: "vllm-router", servedName: modelName });
    const [cache, spread] = await examineFront("m", engine, "-", 10_000);
    expect(cache).toMatchObject({ problem: "", seen: expect.stringContaining("8 of 8") });
    expect(spread?.seen).toMatch(/^2 engines/);
  },
);
