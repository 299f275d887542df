import { ApiError } from "../errors/api-error.ts";
import type { Caller } from "./caller.ts";
import type { FindCaller } from "./find-caller.ts";

/** One wording for every reason: an unauthenticated client learns nothing from it. LiteLLM's client matches on its first words. */
const message = "Incorrect API key provided. Send a valid key as: Authorization: Bearer <API_KEY>.";

/**
 * Reads the Authorization headers of a request, all of them: two are as wrong as none.
 * @param rawHeaders name and value in turn, as Node gives them
 * @throws {ApiError} 401 `invalid_api_key`
 */
export async function authenticate(rawHeaders: readonly string[], findCaller: FindCaller): Promise<Caller> {
  const values = rawHeaders.filter(
    (_text, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization",
  );
  const [value = "", second] = values;
  const token = /^bearer[ ]+([!-~]+)$/i.exec(value.trim())?.[1];
  const caller = token === undefined || second !== undefined ? undefined : await findCaller(token);
  if (!caller) throw new ApiError("invalid_api_key", message);
  return caller;
}
