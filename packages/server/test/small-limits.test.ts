import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parley } from "@parley/server/testing";
import type { CliResult } from "@parley/server/testing";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();

const keys = (...args: readonly string[]): Promise<CliResult> =>
  parley(["keys", ...args, "--data-dir", join(folder.path(), "data")], { cwd: folder.path() });

describe("a limit below a useful size", () => {
  test("of tokens is made, and the command says which requests it never serves", async () => {
    const { code, stdout, stderr } = await keys("create", "--name", "small", "--tokens-per-minute", "600");
    expect({ code, stdout: stdout.slice(0, 2) }).toEqual({ code: 0, stdout: "id" });
    expect(stderr).toContain(
      "Warning: 600 tokens a minute: a request whose prompt and max_completion_tokens need more",
    );
    const [, id = ""] = /^id {3}(\S+)/.exec(stdout) ?? [];
    expect((await keys("update", id, "--concurrency", "2")).stderr).toContain("Warning: 600 tokens a minute");
    expect((await keys("update", id, "--tokens-per-minute", "none")).stderr).toBe("");
    expect((await keys("update", id, "--tokens-per-minute", "1025")).stderr).toBe("");
  });

  test("of a single token admits nothing, and the command says so", async () => {
    const { stderr } = await keys("create", "--name", "single", "--tokens-per-minute", "1");
    expect(stderr).toContain("Warning: 1 token a minute: no request is ever admitted.");
  });

  test("of money that does not pay for one ordinary answer is named, and a larger one is not", async () => {
    const { stderr } = await keys("create", "--name", "short", "--budget-usd", "0.000001", "--json");
    expect(stderr).toContain("Warning: a budget of 0.000001 US dollars does not pay for one answer of 1024 tokens");
    expect((await keys("create", "--name", "rich", "--budget-usd", "1")).stderr).not.toContain("Warning");
  });

  test.each([
    ["0", "0"],
    ["0.00", "0"],
    ["0.000000000001", "0.000000000001"],
  ])("a budget of %s pays for nothing, and the command says so", async (amount, shown) => {
    const { stderr } = await keys("create", "--name", "poor", "--monthly-budget-usd", amount, "--json");
    expect(stderr).toMatch(new RegExp(`^Warning: a budget of ${shown} US dollars: .* The cheapest costs 0\\.\\d+\\.`));
  });
});
