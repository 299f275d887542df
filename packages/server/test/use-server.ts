import { afterAll, beforeAll, inject } from "vitest";
import { startTestServer } from "@parley/server/testing";
import type { TestOptions, TestServer } from "@parley/server/testing";

declare module "vitest" {
  interface ProvidedContext {
    /** Set by a suite of `vitest.config.ts` that runs tests through another mount. */
    readonly mount?: "express";
  }
}

/** Starts one server for the tests of a file or a block. Returns a function that returns it. */
export function useServer(options: TestOptions = {}): () => TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startTestServer({ mount: inject("mount"), ...options });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  return () => {
    if (!server) throw new Error("the server is there from the first test on");
    return server;
  };
}
