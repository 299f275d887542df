import { describe, expect, test } from "vitest";
import { EngineError } from "@parley/inference";
import { ApiError } from "../../errors/api-error.ts";
import { HangUpError } from "../../errors/hang-up.ts";
import { noUsage } from "../../accounts/ledger/ledger-recorder.ts";
import type { FinalUsage } from "../../accounts/ledger/usage-ledger.ts";
import { Meter } from "./meter.ts";

const usageOf = (completionTokens: number) => ({
  promptTokens: 5,
  cachedTokens: 1,
  completionTokens,
  reasoningTokens: 0,
});

/** Lets `act` use a meter. @returns the final usage; a token costs one dollar */
async function finalUsage(act: (meter: Meter) => void): Promise<FinalUsage | undefined> {
  let final: FinalUsage | undefined;
  const slots = { count: () => undefined, endChoice: () => undefined };
  const onEnd = async (end: FinalUsage): Promise<void> => void (final = end);
  {
    await using meter = new Meter({
      promptTokens: 5,
      maxTokens: 9,
      pricing: { prompt: "1", completion: "1", image: "0", request: "0" },
      slots,
      onFirst: () => undefined,
      onEnd,
    });
    act(meter);
  }
  return final;
}

const failAfter = (tokens: number | undefined, error: unknown) => (meter: Meter) => {
  if (tokens !== undefined) meter.count(usageOf(tokens));
  meter.fail(error);
};
const ownTimeout = new ApiError("timeout", "too long");
const engineTimeout = new ApiError("timeout", "too slow", { cause: new EngineError("stalled", "no progress") });

describe("a request", () => {
  const ends: readonly (readonly [what: string, act: (meter: Meter) => void, final: FinalUsage])[] = [
    [
      "whose answer is whole pays for it",
      (meter) => {
        meter.count(usageOf(2));
        meter.complete();
      },
      { usage: usageOf(2), outcome: "complete", errorCode: undefined, costUsd: "7" },
    ],
    [
      "whose client disconnects before the first event pays for the prompt",
      failAfter(undefined, new HangUpError()),
      { usage: { ...noUsage, promptTokens: 5 }, outcome: "cancelled", errorCode: undefined, costUsd: "5" },
    ],
    [
      "whose client disconnects later pays for the tokens so far",
      failAfter(3, new HangUpError()),
      { usage: usageOf(3), outcome: "cancelled", errorCode: undefined, costUsd: "8" },
    ],
    [
      "whose engine fails pays nothing",
      failAfter(3, new ApiError("upstream_error", "died")),
      { usage: usageOf(3), outcome: "failed", errorCode: "upstream_error", costUsd: "0" },
    ],
    [
      "whose engine fails before the first event has used nothing",
      failAfter(undefined, new ApiError("upstream_error", "died")),
      { usage: noUsage, outcome: "failed", errorCode: "upstream_error", costUsd: "0" },
    ],
    [
      "that meets a bug pays nothing",
      failAfter(3, new TypeError("a bug")),
      { usage: usageOf(3), outcome: "failed", errorCode: "internal_error", costUsd: "0" },
    ],
    [
      "that reaches its own time limit pays for the tokens so far",
      failAfter(3, ownTimeout),
      { usage: usageOf(3), outcome: "failed", errorCode: "timeout", costUsd: "8" },
    ],
    [
      "that reaches its own time limit before the first token pays nothing",
      failAfter(0, ownTimeout),
      { usage: usageOf(0), outcome: "failed", errorCode: "timeout", costUsd: "0" },
    ],
    [
      "whose engine stalls pays nothing",
      failAfter(3, engineTimeout),
      { usage: usageOf(3), outcome: "failed", errorCode: "timeout", costUsd: "0" },
    ],
  ];

  test.each(ends)("%s", async (_what, act, final) => {
    expect(await finalUsage(act)).toEqual(final);
  });
});

test("counts that are not integers of 0 or more are a fault of the engine", async () => {
  await finalUsage((meter) => {
    for (const count of [-1, 0.5, Number.NaN]) expect(() => meter.count(usageOf(count))).toThrow(EngineError);
    expect(meter.usage).toBeUndefined();
  });
});
