import { createParley } from "../src/index.ts";
import type { ChatCompletionChunk, CreateRequest, Parley, ParleyOptions } from "../src/index.ts";

/** At least 16 characters. A test checks that no error contains it. */
export const testKey = "test-key-0123456789abcdef";

export const hello: CreateRequest = { model: "vendor/model-1", messages: [{ role: "user", content: "Hello" }] };

export const connect = (baseURL: string, options: Partial<ParleyOptions> = {}): Parley =>
  createParley({ baseURL, apiKey: testKey, ...options });

/** Returns the error of a call. A call that succeeds makes the test fail. */
export const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => {
      throw new Error(`it should have failed, and gave ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );

export const textOf = (chunks: readonly ChatCompletionChunk[]): string =>
  chunks.map(({ choices: [choice] }) => choice?.delta.content ?? "").join("");
