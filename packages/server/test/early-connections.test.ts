import { get } from "node:http";
import { expect, test } from "vitest";
import { CliProcess, freePort } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "./use-folder.ts";

const folder = useFolder();

/** Asks on a connection of its own. @returns the status, or the code of the error */
const ask = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const asked = get({ host: "127.0.0.1", port, path: "/health", agent: false, timeout: 30_000 }, (answer) => {
      answer.resume();
      resolve(String(answer.statusCode));
    });
    asked.on("timeout", () => void asked.destroy(new Error("never answered")));
    asked.on("error", (error) => resolve("code" in error ? String(error.code) : error.message));
  });

test("a connection that arrives while a worker opens the port is answered", async () => {
  const port = await freePort();
  const { cwd, env } = folder.quick({ PORT: String(port) });
  await using server = new CliProcess(["start", "--workers", "4"], { cwd, env });
  const started = new AbortController();
  const answers = new Map<string, number>();
  const askOn = async (): Promise<void> => {
    while (!started.signal.aborted) {
      const answer = await ask(port);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  const asking = Array.from({ length: 16 }, askOn);
  await baseUrlOf(server);
  started.abort();
  await Promise.all(asking);
  answers.delete("ECONNREFUSED");
  expect([...answers.keys()]).toEqual(["200"]);
});
