import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Big } from "big.js";
import { describe, expect, test } from "vitest";
import { miniId, modelId, parley, play, until, withKey } from "@parley/server/testing";
import { createKey } from "../src/accounts/keys/issue-key.ts";
import { requestColumns } from "../src/cli/request-row.ts";
import type { RequestRow } from "../src/cli/request-row.ts";
import { useServer } from "./use-server.ts";

const server = useServer({
  scenarios: {
    seven: [{ text: "a", tokens: 7 }, { finish: "stop" }],
    "dies late": [{ text: "a", tokens: 3 }, { fail: "no more" }],
    "dies early": [{ fail: "nothing at all" }],
  },
});

const run = (...args: readonly string[]) =>
  parley([...args, "--data-dir", server().dataDir], { cwd: server().dataDir });

const json = async <T>(...args: readonly string[]): Promise<T> =>
  JSON.parse((await run(...args, "--json")).stdout) as T; // what the command promises

const table = async (...args: readonly string[]): Promise<string[]> => (await run(...args)).stdout.trim().split("\n");

describe("parley request", () => {
  test("shows how a request ended and what it cost, exactly", async () => {
    const response = await server().chat(play("seven"));
    const { usage } = (await response.json()) as { usage: { prompt_tokens: number; cost_usd: string } };
    const id = response.headers.get("x-request-id") ?? "";
    const row = JSON.parse((await run("request", id, "--json")).stdout) as RequestRow;
    expect(row).toMatchObject({ id, outcome: "complete", completion_tokens: 7, model: modelId, error_code: null });
    const { prompt_price: prompt, completion_price: completion } = row;
    expect(row.cost_usd).toBe(new Big(prompt).times(usage.prompt_tokens).plus(new Big(completion).times(7)).toFixed());
    expect(usage.cost_usd).toBe(row.cost_usd);
    const { code, stdout } = await run("request", id);
    expect(code).toBe(0);
    for (const line of [
      /^outcome +complete$/m,
      /^key +PARLEY_API_KEY \(environment\)$/m,
      /^started +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/m,
      /^ended +.* UTC, after \d+/m,
      /^completion +7 tokens, 0 of them reasoning$/m,
      new RegExp(`^cost +${row.cost_usd.replace(".", "\\.")} US dollars$`, "m"),
    ])
      expect(stdout).toMatch(line);
    expect(stdout).not.toMatch(/_tokens|_usd|_ms|null/);
  });

  test("of an id that is in no row says why", async () => {
    const { code, stderr } = await run("request", "req_none");
    expect(stderr).toBe("parley: The ledger has no request req_none. Only admitted requests are recorded.\n");
    expect(code).toBe(1);
  });
});

describe("a failure", () => {
  test("of the engine costs nothing, and the ledger has the tokens that were delivered", async () => {
    const late = await server().chat({ ...play("dies late"), stream: true });
    await late.text();
    const early = await server().chat(play("dies early"));
    expect(early.status).toBe(502);
    const rows = new Map((await server().ledger()).map((row) => [row.id, row]));
    const delivered = { outcome: "failed", completion_tokens: 3, cost_usd: "0" };
    expect(rows.get(late.headers.get("x-request-id") ?? "")).toMatchObject(delivered);
    expect(rows.get(early.headers.get("x-request-id") ?? "")).toMatchObject({ outcome: "failed", cost_usd: "0" });
  });
});

describe("parley usage", () => {
  test("sums are those of the rows, by key, model and day, in three formats with the same names", async () => {
    const key = withKey(await server().makeKey({ name: "a partner" }));
    for (const model of [modelId, miniId, miniId]) await server().complete({ model, ...play("seven") }, key);
    const rows = await server().ledger();
    const total = (of: typeof rows) => of.reduce((sum, row) => sum.plus(row.cost_usd), new Big(0)).toFixed();
    expect(await json("usage", "--by", "model")).toEqual(
      [modelId, miniId].map((id) => {
        const own = rows.filter((row) => row.model === id);
        return expect.objectContaining({ model: id, requests: own.length, cost_usd: total(own) }) as object;
      }),
    );
    const csv = (await run("usage", "--by", "day", "--format", "csv")).stdout.trim().split(/\r?\n/);
    const counts = "requests,prompt_tokens,cached_tokens,completion_tokens,reasoning_tokens,cost_usd";
    expect(csv[0]).toBe(`day,${counts}`);
    expect(csv.at(-1)).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d,${rows.length},.*,${total(rows)}$`));
    const [header = "", ...byKey] = await table("usage");
    expect(header.split(/ +/)).toEqual(`key_id,key_name,${counts}`.split(","));
    expect(byKey).toHaveLength(new Set(rows.map((row) => row.key_id)).size);
    expect(byKey.some((line) => /^[0-9a-f]{12} +a partner +3 /.test(line))).toBe(true);
    const [first = {}] = await json<object[]>("usage");
    expect(Object.keys(first)).toEqual(header.split(/ +/));
  });

  test("is selected by time, key and model, and has the name of a key that was deleted", async () => {
    const key = await createKey(server().running.keys, { name: "gone" }, Date.now());
    for (const model of [modelId, miniId]) await server().complete({ model, ...play("seven") }, withKey(key.token));
    await server().running.keys.delete(key.id, Date.now());
    const requests = async (...flags: string[]) =>
      (await json<{ key_name: string; requests: number }[]>("usage", "--key", "gone", ...flags)).map((row) => [
        row.key_name,
        row.requests,
      ]);
    expect(await requests()).toEqual([["gone", 2]]);
    expect(await requests("--model", miniId, "--since", "1h")).toEqual([["gone", 1]]);
    expect(await requests("--until", "1h")).toEqual([]);
    expect(await run("usage", "--since", "yesterday")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("a date such as 2026-11-01, or a time ago") as string,
    });
  });

  test("of another kind is misused", async () => {
    const { code, stderr } = await run("usage", "--by", "moon");
    expect(stderr).toContain("Allowed choices are key, model, day");
    expect(code).toBe(2);
  });
});

describe("parley requests", () => {
  test("lists the newest first, in times that people read, and no more than it is asked for", async () => {
    const answers = [await server().chat(play("seven")), await server().chat(play("dies early"))];
    const [seven, early] = answers.map((answer) => answer.headers.get("x-request-id"));
    const [header, first, ...others] = await table("requests", "--limit", "2");
    expect(header).toMatch(/^id +started +key_name +model +outcome +error_code +prompt_tokens/);
    expect(first).toMatch(
      new RegExp(
        `^${early} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC +PARLEY_API_KEY +${modelId} +failed +upstream_error`,
      ),
    );
    expect(others).toEqual([expect.stringContaining(seven ?? "?")]);
  });

  test("is selected by what usage is, by outcome and by error, with the same names in CSV and JSON", async () => {
    await server().chat(play("dies early"));
    const failed = await json<RequestRow[]>("requests", "--error", "upstream_error", "--outcome", "failed");
    expect(failed.length).toBeGreaterThan(0);
    expect(new Set(failed.map((row) => `${row.outcome} ${row.error_code}`))).toEqual(
      new Set(["failed upstream_error"]),
    );
    const { stdout } = await run("requests", "--format", "csv", "--model", modelId);
    expect(stdout.split("\r\n")[0]).toBe(requestColumns.join(","));
    expect(Object.keys(failed[0] ?? {}).toSorted()).toEqual([...requestColumns].toSorted());
    expect(await json("requests", "--model", "vendor/nobody")).toEqual([]);
  });
});

describe("parley usage prune", () => {
  test("writes old requests to a file, then removes them, and what was spent stays", async () => {
    const key = await createKey(server().running.keys, { name: "pruned" }, Date.now());
    await server().complete(play("seven"), withKey(key.token));
    const before = await server().ledger();
    const last = before.at(-1)?.ended_ms ?? 0;
    await until(
      () => Date.now(),
      (now) => now > last + 5,
    );
    const file = join(server().dataDir, "old.csv");
    const { code, stdout } = await run("usage", "prune", "--before", "0m", "--export", file);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(`${before.length} were removed`) as string,
    });
    const [header, ...lines] = readFileSync(file, "utf8").trim().split("\r\n");
    expect(header).toBe(requestColumns.join(","));
    expect(lines.map((line) => line.split(",")[0])).toEqual(before.map(({ id }) => id));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await server().ledger()).toEqual([]);
    const listed = JSON.parse((await run("keys", "show", key.id, "--json")).stdout) as { spent_usd: string };
    expect(listed.spent_usd).toBe(before.find((row) => row.key_id === key.id)?.cost_usd);
  });

  test("removes nothing where the file cannot be written, or the time is to come", async () => {
    await server().complete(play("seven"));
    const before = await server().ledger();
    const nowhere = join(server().dataDir, "nowhere", "old.csv");
    expect(await run("usage", "prune", "--before", "0m", "--export", nowhere)).toMatchObject({
      code: 1,
      stderr: `parley: There is no folder ${join(server().dataDir, "nowhere")}. Make it first, or name another file.\n`,
    });
    expect(await run("usage", "prune", "--before", "2999-01-01")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("must be in the past") as string,
    });
    expect(await server().ledger()).toEqual(before);
  });
});
