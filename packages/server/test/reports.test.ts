import { existsSync, mkdtempSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { Big } from "big.js";
import { describe, expect, test } from "vitest";
import { miniId, modelId, parley, play, readLedger, withKey } from "@parley/server/testing";
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

/** What the source says a token costs, in US dollars. */
const prices = { prompt: "0.0000008", completion: "0.0000035" };

describe("parley request", () => {
  test("shows how a request ended and what it cost, exactly", async () => {
    const response = await server().chat(play("seven"));
    const { usage } = (await response.json()) as { usage: { prompt_tokens: number; cost_usd: string } };
    const { code, stdout } = await run("request", response.headers.get("x-request-id") ?? "");
    expect(code).toBe(0);
    const row = JSON.parse(stdout) as { cost_usd: string; prices: typeof prices };
    expect(row).toMatchObject({ outcome: "complete", completion_tokens: 7, model: modelId, error_code: null });
    const { prompt, completion } = row.prices;
    expect(row.cost_usd).toBe(new Big(prompt).times(usage.prompt_tokens).plus(new Big(completion).times(7)).toFixed());
    expect(usage.cost_usd).toBe(row.cost_usd);
  });

  test("of an id that is in no row says why", async () => {
    const { code, stderr } = await run("request", "req_none");
    expect(stderr).toBe("parley: The ledger has no request req_none. Only admitted requests are recorded.\n");
    expect(code).toBe(1);
  });
});

describe("a failure", () => {
  test("costs what was delivered, and nothing when nothing was", async () => {
    const late = await server().chat({ ...play("dies late"), stream: true });
    await late.text();
    const early = await server().chat(play("dies early"));
    expect(early.status).toBe(502);
    const rows = new Map((await server().ledger()).map((row) => [row.id, row]));
    expect(rows.get(late.headers.get("x-request-id") ?? "")).toMatchObject({ outcome: "failed", completion_tokens: 3 });
    expect(rows.get(late.headers.get("x-request-id") ?? "")?.cost_usd).not.toBe("0");
    expect(rows.get(early.headers.get("x-request-id") ?? "")).toMatchObject({ outcome: "failed", cost_usd: "0" });
  });
});

describe("parley usage", () => {
  test("sums are those of the rows, by key, model and day, in three formats", async () => {
    const key = withKey(await server().makeKey());
    for (const model of [modelId, miniId, miniId]) await server().complete({ model, ...play("seven") }, key);
    const rows = await server().ledger();
    const total = (of: typeof rows) => of.reduce((sum, row) => sum.plus(row.cost_usd), new Big(0)).toFixed();
    const json = JSON.parse((await run("usage", "--by", "model", "--format", "json")).stdout) as object[];
    expect(json).toEqual(
      [modelId, miniId].map((id) => {
        const own = rows.filter((row) => row.model === id);
        return expect.objectContaining({ group: id, requests: own.length, cost_usd: total(own) }) as object;
      }),
    );
    const csv = (await run("usage", "--by", "day", "--format", "csv")).stdout.trim().split(/\r?\n/);
    expect(csv[0]).toBe("day,requests,prompt_tokens,completion_tokens,reasoning_tokens,cost_usd");
    expect(csv.at(-1)).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d,${rows.length},.*,${total(rows)}$`));
    const { stdout } = await run("usage");
    expect(stdout.split("\n")).toHaveLength(new Set(rows.map((row) => row.key_id)).size + 2);
  });

  test("of another kind is misused", async () => {
    const { code, stderr } = await run("usage", "--by", "moon");
    expect(stderr).toContain("Allowed choices are key, model, day");
    expect(code).toBe(2);
  });
});

describe("parley backup", () => {
  test("copies keys and ledger while the server runs, and overwrites nothing", async () => {
    await server().complete();
    const file = join(server().dataDir, "copy.db");
    expect((await run("backup", file)).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const before = readFileSync(file);
    const again = await run("backup", file);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("exists already") as string });
    expect(readFileSync(file).equals(before)).toBe(true);
    const restored = mkdtempSync(join(server().dataDir, "restored-"));
    renameSync(file, join(restored, "parley.db"));
    expect(await readLedger(restored)).toEqual(await server().ledger());
  });

  test("to a folder that is not there leaves nothing behind", async () => {
    const file = join(server().dataDir, "nowhere", "copy.db");
    expect((await run("backup", file)).code).toBe(1);
    expect(existsSync(file)).toBe(false);
  });
});
