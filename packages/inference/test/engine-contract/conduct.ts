import { expect, test } from "vitest";
import { EngineError } from "../../src/index.ts";
import type { Engine } from "../../src/index.ts";
import { ask, oneByOne, requestFor } from "../../testing/requests.ts";
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
      for await (const event of oneByOne(engine().stream(requestFor(endless()), hangUp.signal))) {
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
    for await (const event of oneByOne(engine().stream(requestFor(endless()), new AbortController().signal))) {
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
    const counted = await engine().countTokens(requestFor(members), AbortSignal.timeout(20_000));
    const { usage } = await ask(engine(), { ...members, maxTokens: 1 });
    expect(usage.promptTokens).toBe(counted);
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
    const asking = ask(engine(), { n: slots() + 2, maxTokens: 400 }, hangUp.signal).catch((error: unknown) => error);
    await until("it runs", () => engine().gauges().running > 0);
    hangUp.abort(new Error("the caller is gone"));
    expect(await asking).toMatchObject({ message: "the caller is gone" });
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
