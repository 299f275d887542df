import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { openPlace } from "@parley/inference/testing/places";
import { CliProcess, chatInit, say, startTestServer } from "@parley/server/testing";
import type { ModelObject } from "../src/models/model-object.ts";

/** The configuration alone adds models. Each has an engine, prices and limits of its own. */

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-models-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Settings of a remote model, which the upstream lists as `there`. */
const elsewhere = (url: string, own: object = {}) =>
  ({ engine: "remote", remote: { urls: [url], model: "there", tokenizer: miniFolder, ...own } }) as const;

/** Three models, as `parley.yaml` has them: an engine on this machine, a stub, and a model of an upstream. */
const threeModels = (url: string) =>
  ({
    tiny: {
      engine: "embedded",
      demo: "model-1-mini",
      max_completion_tokens: 30,
      pricing: { prompt: "1", completion: "2" },
    },
    stub: { aliases: ["gpt-4o"], context_length: 1000, pricing: { prompt: "0", completion: "3" } },
    far: { ...elsewhere(url), id: "other/far", pricing: { prompt: "5", completion: "0" } },
  }) as const;

test("three models on three kinds of engine answer from one server, each at its own price and within its own limits", async () => {
  const place = await openPlace();
  const settings = { models: threeModels(place.url), kvMemoryMb: 256 };
  await using server = await startTestServer({ settings });

  const { data } = (await (await server.fetch("/models")).json()) as { data: ModelObject[] };
  expect(
    data.map(({ id, owned_by, context_length, max_completion_tokens }) => [
      id,
      owned_by,
      context_length,
      max_completion_tokens,
    ]),
  ).toEqual([
    ["vendor/tiny", "vendor", 32_768, 30],
    ["vendor/stub", "vendor", 1000, 1000],
    ["other/far", "other", 512, 512],
  ]);

  const costs: (readonly [asked: string, promptPrice: number, completionPrice: number])[] = [
    ["vendor/tiny", 1, 2],
    ["gpt-4o", 0, 3],
    ["other/far", 5, 0],
  ];
  for (const [model, promptPrice, completionPrice] of costs) {
    const { usage, ...answer } = await server.complete({ model, max_completion_tokens: 8, ...say("What is MEV?") });
    expect(answer.model).toBe(model);
    expect(usage.completion_tokens).toBeGreaterThan(0);
    expect(Number(usage.cost_usd)).toBe(usage.prompt_tokens * promptPrice + usage.completion_tokens * completionPrice);
  }
  expect((await server.ledger()).map((row) => row.model)).toEqual(["vendor/tiny", "vendor/stub", "other/far"]);
  const strict = { headers: { "x-strict-params": "true" } };
  for (const [model, most] of [
    ["vendor/tiny", 30],
    // For these two, the context leaves room for fewer tokens than the model may write.
    ["gpt-4o", 1000 - 9],
    ["other/far", 512 - 13],
  ] as const)
    expect((await server.refuse({ model, max_tokens: 2000 }, strict)).message).toContain(`lowered to ${most},`);
});

test("every upstream gets its own token, and none of another's", async () => {
  const [own, shared] = [await openPlace(), await openPlace()];
  const pricing = { prompt: "0", completion: "0" };
  const tokenFile = join(folder, "own-token");
  writeFileSync(tokenFile, "token-of-own");
  const models = {
    own: { ...elsewhere(own.url, { api_key_file: tokenFile }), pricing },
    shared: { ...elsewhere(shared.url), pricing },
    stub: { pricing },
  };
  await using server = await startTestServer({ settings: { models, upstreamApiKey: "token-for-all" } });
  for (const model of ["vendor/own", "vendor/shared"]) await server.complete({ model, max_completion_tokens: 2 });
  const sent = (place: typeof own) => new Set(place.requests.map(({ headers }) => headers.authorization));
  expect(sent(own)).toEqual(new Set(["Bearer token-of-own"]));
  expect(sent(shared)).toEqual(new Set(["Bearer token-for-all"]));
  expect(server.logLines.join("\n")).not.toMatch(/token-of-own|token-for-all/);
});

test("a third model is added by a file, and started", async () => {
  const place = await openPlace();
  const env = {
    PARLEY_ENGINE: "scripted",
    PARLEY_API_KEY: "environment-key-0123456789",
    PARLEY_DATA_DIR: join(folder, "data"),
    PORT: "0",
    PARLEY_METRICS_PORT: "off",
    FAR_TOKEN: "token-of-far",
  };
  const file = [
    "models:",
    "  model-1:",
    "  model-1-mini:",
    "  third:",
    "    aliases: [gpt-4o]",
    "    created: 2026-11-01",
    '    pricing: { prompt: "0.5", completion: "1" }',
    "    engine: remote",
    `    remote: { urls: ["${place.url}"], model: there, tokenizer: "${miniFolder}", api_key_env: FAR_TOKEN }`,
  ];
  writeFileSync(join(folder, "parley.yaml"), file.join("\n"));
  await using server = new CliProcess(["start"], { cwd: folder, env });
  const [, base = ""] = await server.says(/Base URL\s+(\S+)/);
  const headers = { authorization: `Bearer ${env.PARLEY_API_KEY}` };

  const { data } = (await (await fetch(`${base}/models`, { headers })).json()) as { data: ModelObject[] };
  expect(data.map(({ id }) => id)).toEqual(["vendor/model-1", "vendor/model-1-mini", "vendor/third"]);
  expect(data[2]).toMatchObject({ created: Date.UTC(2026, 10, 1) / 1000, aliases: ["gpt-4o"], is_ready: true });

  const answer = await fetch(
    `${base}/chat/completions`,
    chatInit({ model: "gpt-4o", max_completion_tokens: 4 }, { headers }),
  );
  expect(await answer.json()).toMatchObject({ model: "gpt-4o", usage: { completion_tokens: 4 } });
  expect(place.requests.at(-1)?.headers.authorization).toBe("Bearer token-of-far");

  if (process.platform === "linux") {
    const engines = descendants(server.child.pid ?? 0).filter((pid) => readProc(pid, "cmdline").includes(".sock"));
    expect(engines.length).toBeGreaterThanOrEqual(2);
    for (const pid of engines) expect(readProc(pid, "environ")).not.toMatch(/FAR_TOKEN|PARLEY_API_KEY/);
  }

  const check = new CliProcess(["config", "check"], { cwd: folder, env });
  const { stdout, code } = await check.result();
  expect([code, stdout.includes("vendor/third"), stdout.includes("token-of-far")]).toEqual([0, true, false]);
});

test("a start without a terminal says why a remote model is not ready, and goes on once it is", async () => {
  const place = await openPlace();
  const cwd = mkdtempSync(join(folder, "start-"));
  const env = {
    PARLEY_ENGINE: "scripted",
    PARLEY_API_KEY: "environment-key-0123456789",
    PARLEY_DATA_DIR: join(cwd, "data"),
    PORT: "0",
    PARLEY_METRICS_PORT: "off",
  };
  const remote = { urls: [place.url], model: "there", tokenizer: "later" };
  writeFileSync(join(cwd, "parley.yaml"), JSON.stringify({ models: { "model-1": { engine: "remote", remote } } }));
  await using server = new CliProcess(["start"], { cwd, env });
  await server.says(/^vendor\/model-1: not ready, trying again: The folder .*later is missing\.$/m);
  expect(server.stderr).not.toContain("Base URL");
  cpSync(miniFolder, join(cwd, "later"), { recursive: true });
  await server.says(/Base URL/);
});

test("a start without a terminal writes the first key to its file before all models are ready", async () => {
  const place = await openPlace();
  const cwd = mkdtempSync(join(folder, "start-"));
  const data = join(cwd, "data");
  const env = { PARLEY_ENGINE: "scripted", PARLEY_DATA_DIR: data, PORT: "0", PARLEY_METRICS_PORT: "off" };
  const remote = { urls: [place.url], model: "there", tokenizer: "later" };
  const models = { "model-1": {}, "model-1-mini": { engine: "remote", remote } };
  writeFileSync(join(cwd, "parley.yaml"), JSON.stringify({ models }));
  await using server = new CliProcess(["start"], { cwd, env });
  await server.says(/^vendor\/model-1-mini: not ready/m);
  const keys = (): readonly string[] => readdirSync(data).filter((name) => name.startsWith("key-"));
  await expect.poll(keys, { timeout: 30_000 }).toHaveLength(1);
  expect(server.stderr).not.toContain("Base URL");
});

/** Reads a file of a process in /proc. Returns an empty text if the process has ended. */
function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

function descendants(pid: number): number[] {
  const children = readProc(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}
