import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "../../testing/requests.ts";
import type { Ask } from "../../testing/requests.ts";
import { forward, startElsewhere, startVllm } from "../../testing/vllm/start-vllm.ts";
import type { StartedVllm } from "../../testing/vllm/start-vllm.ts";

/** Conversations over two real workers. On a CPU, vLLM has cache blocks of 128 tokens. */

const blockTokens = 128;
const origin = { key: "key_a" };

let workers: readonly StartedVllm[];
beforeAll(async () => {
  workers = ["0", "1"].map((cores) => startVllm({ cores }));
  await Promise.all(workers.map(({ vllm }) => vllm.engine.whenReady()));
});
afterAll(() => Promise.all(workers.map((one) => one[Symbol.asyncDispose]())));

test.each(["completions", "chat"] as const)(
  "by %s, the second turn finds the first on its worker",
  async (protocol) => {
    const ends = await Promise.all(workers.map(({ vllm }) => forward(vllm.socketPath)));
    const connections = [0, 0];
    for (const [index, { server }] of ends.entries())
      server.on("connection", () => (connections[index] = (connections[index] ?? 0) + 1));
    const engine = startElsewhere(
      ends.map(({ url }) => url),
      { protocol },
    );
    await engine.whenReady();
    let [cached, shareable] = [0, 0];
    for (let index = 0; index < 12; index += 1) {
      const messages: NonNullable<Ask["messages"]> = [
        // The workers still have the conversations of the other protocol: these begin with another text.
        {
          role: "system",
          content: `${protocol}: ${"Every answer is short and says only what is certain. ".repeat(20)}`,
        },
        { role: "user", content: `I am customer ${index}. ${"Every word counts. ".repeat(60)}` },
      ];
      const { usage, choices } = await ask(engine, { messages, origin, maxTokens: 8 });
      const answer = { role: "assistant", content: choices[0]?.text ?? "" } as const;
      const next = [...messages, answer, { role: "user", content: "And then?" } as const];
      const { usage: later } = await ask(engine, { messages: next, origin, maxTokens: 8 });
      cached += later.cachedTokens;
      shareable += Math.floor(usage.promptTokens / blockTokens) * blockTokens;
    }
    process.stdout.write(
      `${protocol}: ${cached} of ${shareable} tokens were cached; connections: ${connections.join()}\n`,
    );
    expect(cached / shareable).toBeGreaterThanOrEqual(0.9);
    expect(Math.min(...connections)).toBeGreaterThan(0);
    await engine.close(0);
    for (const { server } of ends) server.close();
  },
);
