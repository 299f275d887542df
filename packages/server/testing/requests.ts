/** The key, the models, and the parts of chat requests in tests. */

/** The key of tests. It must have at least 16 characters, and no log may contain it: a test searches for it. */
export const testKey = "test-key-0123456789abcdef";

export const modelId = "vendor/model-1";
export const miniId = "vendor/model-1-mini";

/** Fields of a request body, by their wire names. */
export type Fields = Readonly<Record<string, unknown>>;

/** Headers as plain names and values. */
export interface TestInit extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a POST of a chat request as JSON. `fields` replace or extend those of a plain one. */
export function chatInit(fields: Fields = {}, init: TestInit = {}): TestInit {
  const body = JSON.stringify({ model: modelId, messages: [{ role: "user", content: "Hello" }], ...fields });
  return { method: "POST", body, ...init, headers: { "content-type": "application/json", ...init.headers } };
}

/** Returns headers with another key. */
export const withKey = (token: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { authorization: `Bearer ${token}` },
});

/** Returns `messages` with one user message. */
export const say = (content: unknown): { readonly messages: readonly unknown[] } => ({
  messages: [{ role: "user", content }],
});

/** Returns `messages` that make the scripted engine play a scenario. */
export const play = (scenario: string): { readonly messages: readonly unknown[] } => say(`script:${scenario}`);
