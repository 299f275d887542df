import { expect, test } from "vitest";
import { ask, countTokens, requestFor } from "../testing/requests.ts";
import { startMini } from "./start-engines.ts";

/** One thread needs about half a minute for the whole context. */
const patienceMs = 300_000;
const contextLength = 32_768;
const answer = 16;

test(
  "a prompt that fills the whole context is read to its end and answered; one token more is rejected",
  { timeout: patienceMs },
  async () => {
    await using started = await startMini({ slots: 1 });
    const { engine } = started;
    await engine.whenReady();
    expect(engine.metadata?.contextLength).toBe(contextLength);
    const hay = (words: number): string =>
      `The word of the day is vault.${" gas".repeat(words)} Which word is the word of the day?`;
    const count = (words: number): Promise<number> =>
      countTokens(engine, requestFor({ say: hay(words) }), AbortSignal.timeout(20_000));
    // One word is one token, so a first count tells the number of words that are missing.
    const words = contextLength - answer - (await count(0));
    expect(await count(words)).toBe(contextLength - answer);

    const { usage, choices } = await ask(
      engine,
      { say: hay(words), maxTokens: answer },
      AbortSignal.timeout(patienceMs),
    );
    expect(usage.promptTokens).toBe(contextLength - answer);
    expect(usage.completionTokens).toBeGreaterThan(0);
    expect(["stop", "length"]).toContain(choices[0]?.finish);

    await expect(ask(engine, { say: hay(words + 1), maxTokens: answer })).rejects.toMatchObject({ kind: "rejected" });
    expect(engine.state).toBe("ready");
  },
);
