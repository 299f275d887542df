import { expect, test } from "vitest";
import { ask, askOne, requestFor, stream } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { neverEnding, startMini } from "./start-engines.ts";

/** No token satisfies this grammar. llama.cpp then accepts any token, and throws when it continues from there. */
const impossible = "root ::= [b-a]";
/** A grammar that llama.cpp cannot read. */
const unreadable = "root ::= (";

test.each([0, 1])("a request that cannot be sampled at temperature %i fails alone", async (temperature) => {
  await using started = await startMini();
  const { engine } = started;
  await engine.whenReady();
  const { pid } = engine;
  const endless = await neverEnding();
  const ordinary: Ask = { seed: undefined, maxTokens: 120, sampling: { logit_bias: endless } };
  const others = Array.from({ length: 3 }, () => askOne(engine, ordinary));
  for (const contentGrammar of [impossible, unreadable, impossible]) {
    const request = requestFor({ seed: undefined, sampling: { temperature } });
    const broken = stream(
      engine,
      { ...request, grammars: { ...request.grammars, contentGrammar } },
      AbortSignal.timeout(30_000),
    );
    await expect(broken.next()).rejects.toMatchObject({ name: "EngineError", kind: "crashed" });
  }
  for (const { usage } of await Promise.all(others)) expect(usage.completionTokens).toBe(120);
  expect((await ask(engine, {})).usage.completionTokens).toBeGreaterThan(0);
  expect([engine.pid, engine.state, engine.gauges().restarts]).toEqual([pid, "ready", 0]);
});
