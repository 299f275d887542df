import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { settle } from "./options.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test.each(["timeoutMs", "idleTimeoutMs", "maxRetries"] as const)("the README names the default of %s", (name) => {
  const [, documented] = new RegExp(`^\\| \`${name}\` +\\| (\\d+) +\\|`, "m").exec(readme) ?? [];
  expect(Number(documented)).toBe(settle({}, "key")[name]);
});

test("an option of a call overrides the client's, and undefined overrides nothing", () => {
  const client = { timeoutMs: 1, idleTimeoutMs: 2, maxRetries: 3 };
  expect(settle(client, "key", { timeoutMs: 10, idleTimeoutMs: undefined })).toMatchObject({
    timeoutMs: 10,
    idleTimeoutMs: 2,
    maxRetries: 3,
  });
});
