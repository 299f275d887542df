import { afterAll, beforeAll } from "vitest";
import { startTestServer } from "./harness.ts";
import type { TestOptions, TestServer } from "./harness.ts";

/** One server for the tests of a file or a block. */
export function useServer(options: TestOptions = {}): () => TestServer {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startTestServer(options);
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  return () => {
    if (!server) throw new Error("the server is there from the first test on");
    return server;
  };
}
