import { expect, test } from "vitest";
import type { EngineEvent } from "../../src/index.ts";
import { ask, askOne } from "../../testing/requests.ts";
import { modes } from "./given.ts";
import type { Given } from "./given.ts";

export function describeEvents({ engine }: Given): void {
  test.each(modes)("%s: one role first, one finish last, counters that only grow", async (_title, members) => {
    const { events, usage } = await ask(engine(), { ...members, n: 2, max_tokens: 30 });
    for (const choice of [0, 1]) {
      const kinds = events.filter((event) => event.choice === choice).map((event) => event.kind);
      expect(kinds[0]).toBe("role");
      expect(kinds.at(-1)).toBe("finish");
      expect(kinds.slice(1, -1)).not.toContain("role");
      expect(kinds.slice(1, -1)).not.toContain("finish");
    }
    expect(events.filter(isEmpty)).toEqual([]);
    expectGrowth(events);
    expect(usage.prompt_tokens).toBeGreaterThan(0);
    expect(usage.cached_tokens).toBeLessThanOrEqual(usage.prompt_tokens);
    expect(usage.completion_tokens).toBeLessThanOrEqual(60);
    expect(usage.reasoning_tokens).toBeLessThanOrEqual(usage.completion_tokens);
    expect(usage.reasoning_tokens > 0).toBe(members.isReasoning === true);
  });

  test("knows itself once it is ready", () => {
    const { state, stateReason, metadata } = engine();
    expect(state).toBe("ready");
    expect(stateReason).toBe("");
    expect(metadata?.context_length).toBeGreaterThan(0);
    expect(metadata?.slots).toBeGreaterThan(0);
    expect(metadata?.system_fingerprint).toMatch(/^fp_[0-9a-f]{16}$/);
  });
}

/** An empty event would become an empty chunk. */
const isEmpty = (event: EngineEvent): boolean =>
  ((event.kind === "text" || event.kind === "reasoning") && event.text === "") ||
  (event.kind === "tool" && event.name === undefined && event.arguments === "");

function expectGrowth(events: readonly EngineEvent[]): void {
  for (const [index, { usage }] of events.entries()) {
    const before = events[index - 1]?.usage ?? usage;
    expect(usage.prompt_tokens).toBe(before.prompt_tokens);
    expect(usage.completion_tokens).toBeGreaterThanOrEqual(before.completion_tokens);
    expect(usage.reasoning_tokens).toBeGreaterThanOrEqual(before.reasoning_tokens);
  }
}

export function describeCaps({ engine, talkative }: Given): void {
  const caps = [1, 2, 3, 4, 7, 15];
  test.each(modes)("%s: ends with `length` exactly at the token limit", async (_title, members) => {
    for (const max_tokens of caps) {
      const { finish, usage } = await askOne(engine(), { ...members, max_tokens });
      expect(usage.completion_tokens).toBeLessThanOrEqual(max_tokens);
      expect(finish === "length" ? usage.completion_tokens : max_tokens).toBe(max_tokens);
    }
  });

  test("a long text is cut at the cap, and what came before the cut is the same", async () => {
    const long = await askOne(engine(), talkative({ max_tokens: 30 }));
    expect(long.finish).toBe("length");
    const short = await askOne(engine(), talkative({ max_tokens: 10 }));
    expect(short.finish).toBe("length");
    expect(short.usage.completion_tokens).toBe(10);
    expect(long.text.startsWith(short.text.replaceAll("\uFFFD", ""))).toBe(true);
  });
}
