import { array, assert, asyncProperty, boolean, constantFrom, integer, record } from "fast-check";
import { expect, test } from "vitest";
import { requestFor } from "../../../testing/requests.ts";
import type { AnswerPlan } from "../../answer/answer-parser.ts";
import type { ChoiceDelta } from "../../answer/combine-choices.ts";
import type { EngineUsage } from "../../engine.ts";
import { ChatChoiceReader } from "./read-chat-choice.ts";

const plan: AnswerPlan = { isReasoning: true, tools: "off", isParallel: true, isConstrained: false, stop: [] };

/** An event as vLLM writes it. */
interface Event {
  readonly member: "content" | "reasoning";
  readonly text: string;
  readonly hasCounters: boolean;
}

function written({ member, text, hasCounters }: Event, at: number): string {
  const counters = { prompt_tokens: 7, total_tokens: 8 + at, completion_tokens: at + 1 };
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_795_230_934,
    model: "vendor/model-1",
    choices: [{ index: 0, delta: { [member]: text }, logprobs: null, finish_reason: null }],
    ...(hasCounters && { usage: counters }),
  });
}

const finish = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });

interface Read {
  readonly texts: readonly (readonly [kind: string, text: string])[];
  /** The completion tokens with each delta. */
  readonly counts: readonly number[];
  readonly last: EngineUsage | undefined;
}

/** @param cut the number of events in the first batch */
async function read(events: readonly string[], cut: number, isWhole: boolean): Promise<Read> {
  const request = { ...requestFor({ say: "Hi", isReasoning: true }), isWhole };
  const reader = new ChatChoiceReader({ request, plan, promptTokens: 5, countTokens: async (text) => text.length });
  const deltas: ChoiceDelta[] = [];
  for (const batch of [events.slice(0, cut), events.slice(cut)]) reader.push(batch, deltas);
  await reader.end(deltas);
  const texts: [string, string][] = [];
  for (const { delta } of deltas) {
    const text = delta.kind === "text" || delta.kind === "reasoning" ? delta.text : "";
    const before = texts.at(-1);
    if (before?.[0] === delta.kind) before[1] += text;
    else texts.push([delta.kind, text]);
  }
  const counts = deltas.map(({ counted }) => counted.completionTokens);
  return { texts, counts, last: deltas.at(-1)?.counted };
}

const event = record<Event>({
  member: constantFrom("content", "reasoning"),
  text: constantFrom("a", " the", "以", "", "\n", '"', " "),
  hasCounters: boolean(),
});

test("an answer that is not streamed has the same texts and counts as a streamed one", async () => {
  await assert(
    asyncProperty(array(event), integer({ min: 0, max: 8 }), async (events, cut) => {
      const all = [...events.map(written), finish, "[DONE]"];
      const [whole, streamed] = [await read(all, cut, true), await read(all, cut, false)];
      expect([whole.texts, whole.last]).toEqual([streamed.texts, streamed.last]);
    }),
  );
});

test("its texts arrive in one piece, and those of a streamed one with the counters of each event", async () => {
  const events = Array.from({ length: 20 }, (_, at) =>
    written({ member: "content", text: " a", hasCounters: true }, at),
  );
  const all = [...events, finish, "[DONE]"];
  expect(await read(all, 10, true)).toMatchObject({ counts: [10, 20, 20], last: { promptTokens: 7 } });
  expect(await read(all, 10, false)).toMatchObject({
    counts: [...events.map((_, at) => at + 1), 20],
  });
});
