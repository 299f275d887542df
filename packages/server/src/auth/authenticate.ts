import { createHash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../errors/api-error.ts";
import type { Caller } from "./caller.ts";

/** Finds the caller behind a token; undefined when there is none. */
export type FindCaller = (token: string) => Caller | undefined;

/** One wording for every reason: an unauthenticated client learns nothing from it. LiteLLM's client matches on its first words. */
const message = "Incorrect API key provided. Send a valid key as: Authorization: Bearer <API_KEY>.";

/**
 * Reads the Authorization headers of a request, all of them: two are as wrong as none.
 * @param rawHeaders name and value in turn, as Node gives them
 * @throws {ApiError} 401 `invalid_api_key`
 */
export function authenticate(rawHeaders: readonly string[], findCaller: FindCaller): Caller {
  const values = rawHeaders.filter(
    (_text, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization",
  );
  const [value = "", second] = values;
  const token = /^bearer[ ]+([!-~]+)$/i.exec(value.trim())?.[1];
  const caller = token === undefined || second !== undefined ? undefined : findCaller(token);
  if (!caller) throw new ApiError("invalid_api_key", message);
  return caller;
}

const unlimited = {
  models: undefined,
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  concurrency: undefined,
  budgetUsd: undefined,
};

/** Admits one key of the operator's own beside the stored ones. It has no limits of its own and is never stored. */
export function withEnvironmentKey(key: string | undefined, findStored: FindCaller): FindCaller {
  if (key === undefined) return findStored;
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expected = digest(key);
  const caller: Caller = { keyId: "environment", ...unlimited };
  return (token) => (timingSafeEqual(digest(token), expected) ? caller : findStored(token));
}
