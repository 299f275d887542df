import { describe, expect, test } from "vitest";
import { eventsOf } from "../../../testing/captures.ts";
import { EngineError } from "../../engine.ts";
import { CompletionReader } from "./read-completion.ts";
import type { CompletionStep } from "./read-completion.ts";

interface Read {
  readonly ids: readonly number[];
  readonly steps: readonly CompletionStep[];
  readonly end: unknown;
}

function readAll(events: readonly string[]): Read {
  const steps: CompletionStep[] = [];
  const reader = new CompletionReader(5);
  try {
    for (const data of events.filter((one) => one !== "[DONE]")) steps.push(reader.push(data));
    return { ids: idsOf(steps), steps, end: reader.end() };
  } catch (error) {
    return { ids: idsOf(steps), steps, end: error instanceof EngineError ? [error.kind, error.message] : error };
  }
}

const idsOf = (steps: readonly CompletionStep[]): number[] => steps.flatMap(({ tokens }) => tokens.map(({ id }) => id));

const saying = (...events: readonly unknown[]): string[] =>
  events.map((event) => (typeof event === "string" ? event : JSON.stringify(event)));

const chunk = (finish: string | null, ...ids: readonly number[]): unknown => ({
  choices: [{ index: 0, token_ids: ids, finish_reason: finish }],
  usage: { prompt_tokens: 5, completion_tokens: ids.length },
});

describe("a captured stream", () => {
  test("is read with its tokens, counters and end", () => {
    const { ids, end } = readAll(eventsOf("completion"));
    expect(ids).toHaveLength(8);
    expect(end).toEqual({
      reason: "length",
      usage: { promptTokens: 22, completionTokens: 8, cachedTokens: expect.any(Number) },
    });
  });

  test("has log-probabilities by token id, highest first", () => {
    const { steps } = readAll(eventsOf("completion-logprobs"));
    for (const { id, logprob = 1, top = [] } of steps.flatMap(({ tokens }) => tokens)) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top.map((one) => one.id)).toContain(id);
      expect(top).toEqual(top.toSorted((a, b) => b.logprob - a.logprob));
    }
  });
});

describe("[DONE] is a clean end only after a legal finish", () => {
  test.each([
    [
      "the engine core was killed",
      "completion-core-killed",
      ["crashed", "the engine failed in the middle of a stream"],
    ],
    [
      "the same on the chat route",
      "sigkill-enginecore-stream",
      ["crashed", "the engine failed in the middle of a stream"],
    ],
    [
      "SIGTERM without patience: abort",
      "sigterm-timeout0-stream",
      ["crashed", 'the engine ended a stream with "abort"'],
    ],
    [
      "a refusal after the status line",
      "completion-refused",
      ["rejected", "The model's engine cannot work on this request."],
    ],
  ])("%s", (_title, name, want) => {
    expect(readAll(eventsOf(name)).end).toEqual(want);
  });

  test.each<[string, readonly unknown[], unknown]>([
    ["nothing but [DONE]", ["[DONE]"], ["crashed", "the engine ended a stream in the middle"]],
    ["no end at all", [chunk(null, 1)], ["crashed", "the engine ended a stream in the middle"]],
    ["an unknown reason", [chunk("error", 1), "[DONE]"], ["crashed", 'the engine ended a stream with "error"']],
    ["a busy engine", [{ error: { code: 503 } }, "[DONE]"], ["unavailable", "the engine is busy"]],
    [
      "a busy engine that has begun",
      [chunk(null, 1), { error: { code: 503 } }],
      ["crashed", "the engine failed in the middle of a stream"],
    ],
    [
      "tokens after the end",
      [chunk("stop", 1), chunk(null, 2)],
      ["protocol", "the engine went on after the end of a choice"],
    ],
    ["no JSON", ["<html>"], ["protocol", "the engine wrote an event that is not a JSON object"]],
    ["a string", ['"oops"'], ["protocol", "the engine wrote an event that is not a JSON object"]],
  ])("%s", (_title, events, want) => {
    expect(readAll(saying(...events)).end).toEqual(want);
  });
});

test("without counters in between, the tokens themselves are counted; the engine's final count takes precedence", () => {
  const plain = (...ids: readonly number[]): unknown => ({
    choices: [{ index: 0, token_ids: ids, finish_reason: null }],
  });
  const last = {
    choices: [],
    usage: { prompt_tokens: 6, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 3 } },
  };
  const { steps, end } = readAll(saying(plain(1), plain(2, 3), chunk("stop"), last, "[DONE]"));
  expect(steps.map(({ usage }) => [usage.promptTokens, usage.completionTokens])).toEqual([
    [5, 1],
    [5, 3],
    [5, 3],
    [6, 4],
  ]);
  expect(end).toEqual({ reason: "stop", usage: { promptTokens: 6, completionTokens: 4, cachedTokens: 3 } });
});

test("several tokens may come in one event, and the last event may be the end", () => {
  const { ids, end } = readAll(saying(chunk(null, 1, 2), chunk("stop", 1, 2, 3), "[DONE]"));
  expect(ids).toEqual([1, 2, 1, 2, 3]);
  expect(end).toMatchObject({ reason: "stop", usage: { completionTokens: 5 } });
});
