import { createHmac, randomBytes } from "node:crypto";
import type { EngineEvent, EngineMetadata, RequestOrigin } from "../engine.ts";
import { EngineError } from "../engine.ts";
import { probeRequest } from "../probe.ts";
import type { ConstrainedRequest } from "../probe.ts";

/**
 * The `cache_salt` of a request. An engine with a prompt cache reuses a prompt only for requests with the same salt. So a
 * caller cannot find out from response times or `cached_tokens` which prompts another key has sent.
 */
export type CacheSalter = (origin: RequestOrigin | undefined) => string;

/**
 * @param secret at least 32 bytes that only this installation knows. The salt of a key cannot be computed without it.
 * @returns a function that gives each key one salt of 43 characters. A request of unknown origin gets a new salt each time.
 */
export const cacheSalter =
  (secret: Uint8Array): CacheSalter =>
  (origin) =>
    origin
      ? createHmac("sha256", secret).update(`prompt-cache:${origin.key}`).digest("base64url")
      : randomBytes(32).toString("base64url");

/** Tells if an engine reuses the prompt of one key for another, with a clause for the operator that gives the evidence. */
export type PromptCache = NonNullable<EngineMetadata["promptCache"]>;

export const unsalted: PromptCache = {
  isShared: true,
  description: "may reuse the prompts of one key for another: no cache_salt is sent to it",
};

/** The metadata of an engine whose prompt cache has been probed. */
export const withPromptCache = (metadata: EngineMetadata, promptCache: PromptCache): EngineMetadata => ({
  ...metadata,
  promptCache,
  description: `${metadata.description}; it ${promptCache.description}`,
});

type Ask = (request: ConstrainedRequest) => AsyncIterable<readonly EngineEvent[]>;

/** The prompt of the probe must be longer than the cache blocks of the models that vLLM serves. */
const maxRepeats = 300;
const sentence = "The next block holds the price of gas. ";

/**
 * Sends one long prompt as one key, again as the same key, and then as another key.
 * @param contextLength in tokens; the prompt takes less than this
 * @throws {EngineError} if the engine does not answer
 */
export async function tryPromptCache(contextLength: number, ask: Ask): Promise<PromptCache> {
  const run = randomBytes(12).toString("hex");
  const content = `${run} ${sentence.repeat(Math.min(maxRepeats, Math.floor(contextLength / 32)))}`;
  const cachedFor = async (key: string): Promise<number> => {
    let cached = 0;
    // With several endpoints, all three requests have to reach the same one.
    const origin = { key: `${run}-${key}`, placedAs: run };
    for await (const events of ask({ ...probeRequest, messages: [{ role: "user", content }], origin }))
      for (const event of events) if (event.kind === "usage") cached = event.usage.cachedTokens;
    return cached;
  };
  try {
    await cachedFor("first");
    if ((await cachedFor("first")) === 0) return untold;
    return (await cachedFor("second")) === 0 ? apart : shared;
  } catch (error) {
    // The one-token probe succeeded before, so only this prompt was refused.
    if (error instanceof EngineError && error.kind === "rejected") return untold;
    throw error;
  }
}

const apart: PromptCache = { isShared: false, description: "keeps the cached prompts of keys apart" };
const untold: PromptCache = {
  isShared: false,
  description: "gets a cache_salt for each key, and reports no cached tokens that would show the effect",
};
const shared: PromptCache = {
  isShared: true,
  description: "reuses the prompts of one key for another: it ignores cache_salt",
};
