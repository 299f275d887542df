import { expect, test } from "vitest";
import { EngineError } from "../../src/index.ts";
import type { Engine } from "../../src/index.ts";
import { collectGarbage } from "../../testing/collect-garbage.ts";
import { ask, lastUsage, oneByOne, requestFor, stream } from "../../testing/requests.ts";
import type { Ask } from "../../testing/requests.ts";
import { until } from "../../testing/until.ts";
import { noArguments, weather } from "./given.ts";
import type { Given } from "./given.ts";

export function describeCancelling({ engine, talkative }: Given): void {
  const endless = (): Ask => talkative({ maxTokens: 400 });

  test("an aborted signal stops the stream with its reason", async () => {
    const hangUp = new AbortController();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of oneByOne(stream(engine(), requestFor(endless()), hangUp.signal))) {
        seen.push(event.kind);
        if (seen.length === 3) hangUp.abort(new Error("the caller is gone"));
      }
    })();
    await expect(reading).rejects.toThrow("the caller is gone");
    expect(await freeChoices(engine())).toBe(maxChoices(engine()));
  });

  test("a signal that has aborted before starts nothing", async () => {
    await expect(ask(engine(), endless(), AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
    expect(await freeChoices(engine())).toBe(maxChoices(engine()));
  });

  test("leaving the loop is enough", async () => {
    for await (const event of oneByOne(stream(engine(), requestFor(endless()), new AbortController().signal))) {
      if (event.kind === "text") break;
    }
    expect(await freeChoices(engine())).toBe(maxChoices(engine()));
  });
}

/** Returns the number of choices that the engine can generate at once. A cancelled request must not lower it. */
async function freeChoices(engine: Engine): Promise<number> {
  await until("nothing runs", () => engine.gauges().running === 0);
  const { choices } = await ask(engine, { n: maxChoices(engine), maxTokens: 2 });
  return choices.filter((choice) => choice.finish !== undefined).length;
}

const maxChoices = (engine: Engine): number => Math.min(8, engine.metadata?.slots ?? 1);

export function describeCounting({ engine }: Given): void {
  const call = {
    id: "call_1",
    type: "function",
    function: { name: "get_weather", arguments: '{"celsius": true}' },
  } as const;
  test.each<[string, Ask]>([
    ["one message", {}],
    ["nothing said", { say: "" }],
    ["odd characters", { say: "\0 \uD800 \u{1F984} \u200D <|im_start|>system\n</think><tool_call>" }],
    ["reasoning is asked for", { isReasoning: true }],
    ["tools", { tools: [weather, noArguments], toolChoice: "auto" }],
    ["tools that may not be used", { tools: [weather], toolChoice: "none" }],
    [
      "a conversation",
      {
        messages: [
          { role: "developer", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "How warm" },
              { type: "text", text: " is it?" },
            ],
          },
          { role: "assistant", content: null, tool_calls: [call] },
          { role: "tool", tool_call_id: "call_1", content: '{"degrees": 21}' },
        ],
      },
    ],
  ])("counts before what it uses later: %s", async (_title, members: Ask) => {
    const request = requestFor({ ...members, maxTokens: 1 });
    const prompt = await engine().prepare(request, AbortSignal.timeout(20_000));
    const events = (await Array.fromAsync(prompt.stream(request))).flat();
    expect(lastUsage(events)?.promptTokens).toBe(prompt.tokens);
  });
}

export function describePreparing({ engine }: Given): void {
  const request = requestFor({ maxTokens: 2 });

  test("a prompt that is prepared takes no place, and is forgotten when it is never streamed", async () => {
    const prepare = async (): Promise<WeakRef<object>[]> => {
      const messages = [{ role: "user" as const, content: "Tell me. ".repeat(1000) }];
      const prompt = await engine().prepare({ ...request, messages }, new AbortController().signal);
      return [new WeakRef(prompt), new WeakRef(messages)];
    };
    const held = (await Promise.all(Array.from({ length: 20 }, prepare))).flat();
    expect(await freeChoices(engine())).toBe(maxChoices(engine()));
    await collectGarbage();
    expect(held.filter((one) => one.deref() !== undefined)).toEqual([]);
  });

  test("an abort before the stream ends it with the reason, and starts nothing", async () => {
    const hangUp = new AbortController();
    const prompt = await engine().prepare(request, hangUp.signal);
    hangUp.abort(new Error("the caller is gone"));
    await expect(prompt.stream(request).next()).rejects.toThrow("the caller is gone");
    expect(await freeChoices(engine())).toBe(maxChoices(engine()));
  });

  test("a prompt is streamed once", async () => {
    const prompt = await engine().prepare(request, AbortSignal.timeout(20_000));
    expect(await Array.fromAsync(prompt.stream(request))).not.toEqual([]);
    await expect(prompt.stream(request).next()).rejects.toThrow("streamed only once");
    expect(engine().gauges().running).toBe(0);
  });
}

export function describeTurns({ engine }: Given): void {
  const slots = (): number => engine().metadata?.slots ?? 1;

  test("more choices than there are slots are all answered, in turns", async () => {
    const n = slots() + 2;
    const { choices } = await ask(engine(), { n, maxTokens: 3 });
    expect(choices.filter((choice) => choice.finish !== undefined)).toHaveLength(n);
    expect(engine().gauges().running).toBe(0);
  });

  test("choices that wait for their turn end with the caller", async () => {
    const hangUp = new AbortController();
    const reading = (async () => {
      for await (const _events of stream(engine(), requestFor({ n: slots() + 2, maxTokens: 400 }), hangUp.signal))
        hangUp.abort(new Error("the caller is gone"));
    })();
    await expect(reading).rejects.toThrow("the caller is gone");
    expect(await freeChoices(engine())).toBe(maxChoices(engine()));
  });
}

export function describeRefusals({ engine }: Given): void {
  const kindOf = (error: unknown): unknown => (error instanceof EngineError ? error.kind : error);
  test.each<[string, () => Ask]>([
    ["more than the context holds", () => ({ maxTokens: engine().metadata?.contextLength ?? 0 })],
  ])("rejects %s, and goes on", async (_title, members) => {
    const kind = await ask(engine(), members()).catch(kindOf);
    expect(kind).toBe("rejected");
    expect(engine().state).toBe("ready");
    expect(engine().gauges().running).toBe(0);
  });
}
