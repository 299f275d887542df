import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { makeConfig, readConfig } from "./read-config.ts";
import type { ConfigChanges } from "./read-config.ts";
import type { ModelConfig } from "./read-models.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-models-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pricing = { prompt: "0.000001", completion: "0.000002" };
const modelsOf = (changes: ConfigChanges, env = {}): readonly ModelConfig[] => makeConfig(changes, env).models;

function faultsOf(models: NonNullable<ConfigChanges["models"]>, env = {}): readonly string[] {
  try {
    modelsOf({ models }, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe("without models", () => {
  test("the two default models are served", () => {
    expect(modelsOf({})).toMatchObject([
      { id: "vendor/model-1", displayName: "Vendor: Model 1", engineConfig: { weights: { demo: "model-1" } } },
      {
        id: "vendor/model-1-mini",
        pricing: { prompt: "0.0000002", completion: "0.0000004", image: "0", request: "0" },
      },
    ]);
  });

  test("the six variables set their weights and addresses", () => {
    const env = {
      PARLEY_MODEL_1_GGUF: "own.gguf",
      PARLEY_MODEL_1_MINI_WEIGHTS: "/w",
      PARLEY_MODEL_1_MINI_URL: "http://a, http://b",
    };
    const { models } = readConfig({ flags: {}, env: { PARLEY_MODEL_1_GGUF: "own.gguf" } }).config;
    expect(models).toMatchObject([
      { engineConfig: { weights: { path: "own.gguf" } } },
      { engineConfig: { weights: { demo: "model-1-mini" } } },
    ]);
    expect(models[0]?.description).toMatch(/^A language model specialised in Web3/);
    const flags = { "--engine": "remote", "--model-1-weights": "/t", "--model-1-url": "http://c" };
    expect(readConfig({ flags, env }).config.models).toMatchObject([
      { engineConfig: { driver: "remote", urls: ["http://c"], tokenizer: "/t" } },
      { engineConfig: { driver: "remote", urls: ["http://a", "http://b"], tokenizer: "/w" } },
    ]);
  });
});

describe("models", () => {
  test("is the whole list, in its order, and a default name keeps the defaults that its entry does not set", () => {
    const own = { gguf: "own.gguf", pricing };
    expect(modelsOf({ vendor: "acme", models: { own, "model-1": { label: "One" } } })).toMatchObject([
      { id: "acme/own", displayName: "Vendor: own", maxCompletionTokens: 16_384 },
      { id: "acme/model-1", displayName: "Vendor: One", pricing: { prompt: "0.0000003" } },
    ]);
  });

  test("may have a price for cached tokens, up to that of the others", () => {
    const own = { gguf: "own.gguf", pricing: { ...pricing, input_cache_read: "0.000001" } };
    expect(modelsOf({ models: { own } })).toMatchObject([{ pricing: { input_cache_read: "0.000001" } }]);
    expect(modelsOf({ models: { own: { gguf: "own.gguf", pricing } } })[0]?.pricing).not.toHaveProperty(
      "input_cache_read",
    );
    const dear = { ...own, pricing: { ...pricing, input_cache_read: "0.00000100000000001" } };
    expect(faultsOf({ dear })).toEqual([
      "models.dear.pricing.input_cache_read is 0.00000100000000001, more than the price of a prompt token, 0.000001: " +
        "budgets hold the price of a prompt before it is known which tokens are cached",
    ]);
    expect(faultsOf({ "model-1": { pricing: { input_cache_read: "1" } } })).toHaveLength(1);
  });

  test("sets the id and everything else that callers see", () => {
    const third = {
      id: "other/big",
      aliases: ["gpt-4o"],
      demo: "model-1-mini",
      created: 1_793_491_200,
      default_reasoning_effort: "low",
      max_completion_tokens: 100,
      pricing,
    } as const;
    expect(modelsOf({ models: { third } })).toMatchObject([
      {
        name: "third",
        id: "other/big",
        ownedBy: "other",
        aliases: ["gpt-4o"],
        created: 1_793_491_200,
        defaultReasoningEffort: "low",
        maxCompletionTokens: 100,
        description: expect.stringMatching(/^Demonstration model/) as unknown,
      },
    ]);
  });

  test.each([
    [{ a: { aliases: ["x"] }, b: { aliases: ["x"] } }, "models.b and models.a are both asked for as x"],
    [{ a: { aliases: ["vendor/b"] }, b: {} }, "models.b and models.a are both asked for as vendor/b"],
    [{ a: { id: "v/x" }, b: { id: "v/x" } }, "models.b and models.a are both asked for as v/x"],
    [{ a: { aliases: ["x", "x"] } }, "models.a and models.a are both asked for as x"],
  ])("cannot give one name to two: %j", (entries, fault) => {
    const models = Object.fromEntries(
      Object.entries(entries).map(([name, own]) => [name, { gguf: "g", pricing, ...own }]),
    );
    expect(faultsOf(models)).toEqual([fault]);
  });

  test.each([
    [
      { engine: "vllm-process", gguf: "a.gguf" },
      'models.model-1 has the engine "vllm-process": set models.model-1.weights or PARLEY_MODEL_1_WEIGHTS',
    ],
    [
      { engine: "embedded", weights: "/w" },
      'models.model-1 has the engine "embedded": set models.model-1.gguf or PARLEY_MODEL_1_GGUF',
    ],
    [
      { engine: "vllm-container" },
      'models.model-1 has the engine "vllm-container": set PARLEY_VLLM_IMAGE to an image with vLLM',
    ],
    [{ demo: "model-1", gguf: "a.gguf" }, "models.model-1 must have demo or gguf, not both"],
  ] as const)("says what an engine lacks: %j", (own, fault) => {
    expect(faultsOf({ "model-1": own })).toEqual([fault]);
  });
});

describe("the token for an upstream", () => {
  const remote = (own: object) =>
    ({ engine: "remote", pricing, remote: { urls: ["http://a"], tokenizer: "/t", ...own } }) as const;
  const keysOf = (changes: ConfigChanges, env = {}): unknown[] =>
    modelsOf(changes, env).map(({ engineConfig }) => "apiKey" in engineConfig && engineConfig.apiKey);

  test("is the upstream's own, from a variable or a file, otherwise the shared one", () => {
    const file = join(folder, "token");
    writeFileSync(file, "from-file\n");
    const models = { a: remote({ api_key_env: "A" }), b: remote({ api_key_file: file }), c: remote({}) };
    expect(keysOf({ upstreamApiKey: "for-all", models }, { A: "from-a" })).toEqual(["from-a", "from-file", "for-all"]);
  });

  test("is required, must be given once, and is never shown", () => {
    const file = join(folder, "blank");
    writeFileSync(file, "two words");
    const models = {
      a: remote({ api_key_env: "A" }),
      b: remote({ api_key_file: "/nonexistent" }),
      c: remote({ api_key_file: file }),
      d: remote({ api_key_env: "A", api_key_file: file }),
    };
    expect(faultsOf(models)).toEqual([
      "models.a.remote.api_key_env: the variable A must hold a token, printable characters without blanks",
      "models.b.remote.api_key_file: the file /nonexistent must hold a token, printable characters without blanks",
      `models.c.remote.api_key_file: the file ${file} must hold a token, printable characters without blanks`,
      "models.d.remote must have api_key_env or api_key_file, not both",
    ]);
  });
});
