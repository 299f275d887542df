import { expect, test } from "vitest";
import { ask, askOne, spell } from "../../testing/requests.ts";
import type { Given } from "./given.ts";

export function describeStops({ engine, talkative }: Given): void {
  test("ends before the first stop string, wherever it lies", async () => {
    const { text } = await askOne(engine(), talkative({ maxTokens: 30 }));
    for (let start = 0; start + 3 <= text.length; start += 7) {
      const stop = wholeCharacters(text, start, 3);
      const cut = await askOne(engine(), talkative({ maxTokens: 30, stop: [stop, "never \u{1F937}"] }));
      expect([cut.text, cut.finish]).toEqual([text.slice(0, text.indexOf(stop)), "stop"]);
    }
  });

  test("releases text that only began like a stop string", async () => {
    const { text } = await askOne(engine(), talkative({ maxTokens: 20 }));
    const held = await askOne(engine(), talkative({ maxTokens: 20, stop: [`${text} and never this`] }));
    expect(held).toMatchObject({ text, finish: "length" });
  });
}

/** Returns a part of a text. It is a little longer where its end would cut a character. */
function wholeCharacters(text: string, start: number, length: number): string {
  const characters = Array.from(text.slice(0, start)).length;
  return Array.from(text)
    .slice(characters - (start > 0 ? 1 : 0), characters + length)
    .join("");
}

export function describeRepeats({ engine, talkative }: Given): void {
  test.each([
    ["a seed", { sampling: { temperature: 1.5 }, seed: "42" }],
    ["a negative seed", { sampling: { temperature: 1.5 }, seed: "-9223372036854775808" }],
    ["the largest seed", { sampling: { temperature: 1.5 }, seed: "9223372036854775807" }],
  ])("%s gives the same text again", async (_title, members) => {
    // It takes all slots, so every slot has been used before the second time.
    const n = Math.min(8, engine().metadata?.slots ?? 1);
    const first = await ask(engine(), talkative({ ...members, n }));
    const again = await ask(engine(), talkative({ ...members, n }));
    expect(again.choices).toEqual(first.choices);
    expect(again.usage).toEqual(first.usage);
  });

  test("greedy gives the same text again", async () => {
    const greedy = talkative({ sampling: { temperature: 0 }, seed: undefined });
    expect(await askOne(engine(), greedy)).toEqual(await askOne(engine(), greedy));
  });

  test("choice i samples with seed + i", async () => {
    const sampling = { temperature: 1.2 };
    const together = await ask(engine(), talkative({ sampling, seed: "7", n: 3, maxTokens: 12 }));
    for (const [index, choice] of together.choices.entries()) {
      const alone = await askOne(engine(), talkative({ sampling, seed: `${7 + index}`, maxTokens: 12 }));
      expect(alone.text).toBe(choice.text);
    }
  });
}

export function describeLogprobs({ engine, talkative }: Given): void {
  test.each([0, 1, 5, 20])("%i alternatives: the tokens spell the content, highest first", async (topLogprobs) => {
    const { text, tokens } = await askOne(engine(), talkative({ topLogprobs, maxTokens: 20 }));
    expect(spell(tokens)).toBe(text);
    for (const { logprob = Number.NaN, top = [] } of tokens) {
      expect(logprob).toBeLessThanOrEqual(0);
      expect(top.length).toBeLessThanOrEqual(topLogprobs);
      expect(top.map((one) => one.logprob)).toEqual(top.map((one) => one.logprob).toSorted((a, b) => b - a));
    }
  });

  test("without the option there are none", async () => {
    const { text, tokens } = await askOne(engine(), talkative({}));
    expect(spell(tokens)).toBe(text);
    expect(tokens.every((token) => token.logprob === undefined && token.top === undefined)).toBe(true);
  });

  test("a stop string leaves the tokens whose text was begun", async () => {
    const { text } = await askOne(engine(), talkative({ maxTokens: 30 }));
    for (let start = 1; start + 2 <= text.length; start += 9) {
      const stop = [wholeCharacters(text, start, 2)];
      const cut = await askOne(engine(), talkative({ maxTokens: 30, stop, topLogprobs: 0 }));
      expect(spell(cut.tokens).startsWith(cut.text)).toBe(true);
      expect(spell(cut.tokens.slice(0, -1)).length).toBeLessThanOrEqual(cut.text.length);
    }
  });

  test("reasoning is not part of them", async () => {
    const { text, tokens } = await askOne(engine(), { isReasoning: true, maxTokens: 60, topLogprobs: 2 });
    expect(spell(tokens)).toBe(text);
  });
}
