import { expect, test } from "vitest";
import type { EngineEvent } from "../../src/index.ts";
import { ask, askOne, isOfChoice } from "../../testing/requests.ts";
import { modes } from "./given.ts";
import type { Given } from "./given.ts";

export function describeEvents({ engine }: Given): void {
  test.each(modes)("%s: one role first, one finish last, counters that only grow", async (_title, members) => {
    const { events, usage } = await ask(engine(), { ...members, n: 2, maxTokens: 30 });
    for (const choice of [0, 1]) {
      const kinds = events.flatMap((event) => (isOfChoice(event) && event.choice === choice ? [event.kind] : []));
      expect(kinds[0]).toBe("role");
      expect(kinds.at(-1)).toBe("finish");
      expect(kinds.slice(1, -1)).not.toContain("role");
      expect(kinds.slice(1, -1)).not.toContain("finish");
    }
    expect(events.filter(isEmpty)).toEqual([]);
    expectGrowth(events);
    expect(usage.promptTokens).toBeGreaterThan(0);
    expect(usage.cachedTokens).toBeLessThanOrEqual(usage.promptTokens);
    expect(usage.completionTokens).toBeLessThanOrEqual(60);
    expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.completionTokens);
    expect(usage.reasoningTokens > 0).toBe(members.isReasoning === true);
  });

  test("knows itself once it is ready", () => {
    const { state, stateReason, metadata } = engine();
    expect(state).toBe("ready");
    expect(stateReason).toBe("");
    expect(metadata?.contextLength).toBeGreaterThan(0);
    expect(metadata?.slots).toBeGreaterThan(0);
    expect(metadata?.systemFingerprint).toMatch(/^fp_[0-9a-f]{16}$/);
  });
}

/** An empty event would become an empty chunk. */
const isEmpty = (event: EngineEvent): boolean =>
  ((event.kind === "text" || event.kind === "reasoning") && event.text === "") ||
  (event.kind === "tool" && event.name === undefined && event.arguments === "");

function expectGrowth(events: readonly EngineEvent[]): void {
  expect(events[0]?.kind).toBe("usage");
  const usages = events.flatMap((event) => (event.kind === "usage" ? [event.usage] : []));
  for (const [index, usage] of usages.entries()) {
    const before = usages[index - 1] ?? usage;
    expect(usage.promptTokens).toBe(before.promptTokens);
    expect(usage.completionTokens).toBeGreaterThanOrEqual(before.completionTokens);
    expect(usage.reasoningTokens).toBeGreaterThanOrEqual(before.reasoningTokens);
  }
}

export function describeCaps({ engine, talkative }: Given): void {
  const caps = [1, 2, 3, 4, 7, 15];
  test.each(modes)("%s: ends with `length` exactly at the token limit", async (_title, members) => {
    for (const maxTokens of caps) {
      const { finish, usage } = await askOne(engine(), { ...members, maxTokens });
      expect(usage.completionTokens).toBeLessThanOrEqual(maxTokens);
      expect(finish === "length" ? usage.completionTokens : maxTokens).toBe(maxTokens);
    }
  });

  test("a long text is cut at the token limit, and is the same until there", async () => {
    const long = await askOne(engine(), talkative({ maxTokens: 30 }));
    expect(long.finish).toBe("length");
    const short = await askOne(engine(), talkative({ maxTokens: 10 }));
    expect(short.finish).toBe("length");
    expect(short.usage.completionTokens).toBe(10);
    expect(long.text.startsWith(short.text.replaceAll("\uFFFD", ""))).toBe(true);
  });
}
