import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ConfigSources } from "./collect-values.ts";
import { ConfigError } from "./config-error.ts";
import { configSchema } from "./config-schema.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { readConfig } from "./read-config.ts";
import { describe as toSchema, fromText, toText } from "./setting.ts";
import { settingNames, settings } from "./settings.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-config-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (sources: Partial<ConfigSources>) => readConfig({ flags: {}, env: {}, ...sources });

function withFile(text: string): Pick<ConfigSources, "file"> {
  const file = join(folder, "parley.yaml");
  writeFileSync(file, text);
  return { file };
}

function faultsOf(sources: Partial<ConfigSources>): readonly string[] {
  try {
    read(sources);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

const rows = settingNames.map((name) => settings[name]);

describe("every setting", () => {
  test.each(rows.filter(({ schema }) => toSchema(schema).default !== undefined))(
    "$env reads its own default",
    (row) => {
      const { default: fallback } = toSchema(row.schema);
      expect(fromText(row, toText(fallback))).toEqual(fallback);
      expect(row.schema.parse(fallback)).toEqual(row.schema.parse(undefined));
    },
  );

  test("has a unique name and a description", () => {
    expect(new Set(rows.map(({ env }) => env)).size).toBe(rows.length);
    for (const { schema } of rows) expect(toSchema(schema).description?.length).toBeGreaterThan(5);
  });

  test("except secrets is in the schema of parley.yaml", () => {
    const names = Object.keys(configSchema().properties ?? {}).filter((name) => name !== "models");
    expect(names.toSorted()).toEqual(rows.flatMap(({ path }) => path?.[0] ?? []).toSorted());
  });
});

describe("the source of a value", () => {
  test("a flag wins over the environment, that over the file, that over the default", () => {
    const file = withFile("port: 1\n");
    expect(read({}).config.port).toBe(8080);
    expect(read(file).config.port).toBe(1);
    expect(read({ ...file, env: { PORT: "2" } }).config.port).toBe(2);
    const all = read({ ...file, env: { PORT: "2" }, flags: { "--port": "3" } });
    expect(all.config.port).toBe(3);
    expect(all.origins.port).toBe("flag");
  });

  test("an empty variable does not count, nor does a key of the file without a value", () => {
    expect(read({ ...withFile("port:\n"), env: { PORT: "" } }).origins.port).toBe("default");
  });

  test("a duration is given in seconds and stored in milliseconds", () => {
    expect(read({ ...withFile("drain_seconds: 0.5\n"), env: { PARLEY_QUEUE_WAIT_SECONDS: "7" } }).config).toMatchObject(
      {
        drainMs: 500,
        queueWaitMs: 7000,
      },
    );
  });
});

describe("a fault", () => {
  test.each([
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "8080.5"],
    ["PORT", "0x50"],
    ["VENDOR", "a/b"],
    ["PARLEY_ENGINE", "none"],
    ["PARLEY_METRICS_PORT", "on"],
    ["PARLEY_API_KEY", "short"],
    ["PARLEY_CORS_ORIGINS", "https://a.example,b"],
    ["PARLEY_MODEL_1_URL", "ftp://a"],
  ])("names the variable: %s=%s", (name, value) => {
    const [fault = "", ...others] = faultsOf({ env: { [name]: value } });
    expect(fault).toMatch(new RegExp(`^${name} must be `));
    expect(others).toEqual([]);
  });

  test("does not repeat a secret", () => {
    expect(faultsOf({ env: { PARLEY_API_KEY: "tooshort" } }).join()).not.toContain("tooshort");
    const header = 'models: {model-1: {remote: {headers: {authorization: "Bearer tooshort\\n"}}}}';
    expect(faultsOf(withFile(header)).join()).toMatch(/headers\.authorization must be .*, not the value given/);
  });

  test.each([
    ["a: [", "cannot be read"],
    ["- 1", "must be a YAML mapping"],
    ["port: '8080'", 'parley.yaml: port must be a whole number from 0 to 65535, not "8080"'],
    ["drain_seconds: 1m", "drain_seconds must be seconds, above 0 and at most 86400"],
    ["cors_origins: '*'", "cors_origins must be a list of origins"],
    ["metrics_prot: 1", "metrics_prot is not a setting: did you mean metrics_port?"],
    ["upstream_api_key: abc", "upstream_api_key is a secret, and read from the environment only"],
    ["models: []", "models must be a mapping of model names to settings"],
    ["models: {}", "models must name at least one model"],
    ["models: {a/b: {}}", "the name models.a/b must be a name of letters"],
    [
      "models: {model-1: {contextlength: 512}}",
      "models.model-1.contextlength is not a setting: did you mean context_length?",
    ],
    [
      "models: {model-1: {remote: {protocol: grpc}}}",
      "models.model-1.remote.protocol must be one of completions, chat",
    ],
    [
      "models: {model-1: {pricing: {prompt: 0.1}}}",
      "models.model-1.pricing.prompt must be a decimal number of US dollars in quotation",
    ],
    ["models: {model-1: {sampling: {temperature: 3}}}", "sampling.temperature must be a number from 0 to 2, not 3"],
    ["models: {model-1: {created: 2026-02-30}}", "created must be a date such as 2026-11-01, or seconds of Unix time"],
  ])("in the file %s says: %s", (text, sentence) => {
    expect(faultsOf(withFile(text)).join("\n")).toContain(sentence);
  });

  test("is reported with all others, from every source and of every kind", () => {
    const file = withFile(
      "vendor: 'a b'\nunknown: 1\nmodels: {own: {engine: remote}, model-1: {slots: 0}, other: {gguf: a.gguf}}\n",
    );
    const shapes = faultsOf({ ...file, env: { PORT: "x" }, flags: { "--host": "not a host" } });
    expect(shapes).toHaveLength(5);
    const models = withFile("models: {own: {engine: remote}, other: {gguf: a.gguf, pricing: {prompt: '1'}}}\n");
    expect(faultsOf({ ...models, env: { PORT: "x", PARLEY_MODEL_1_GGUF: "b.gguf" } })).toEqual([
      "PARLEY_MODEL_1_GGUF is about models.model-1, which parley.yaml does not list",
      'PORT must be a whole number from 0 to 65535, not "x"',
      'models.own has the engine "remote": set models.own.remote.urls',
      'models.own has the engine "remote": set models.own.remote.tokenizer',
      'models.own.pricing.prompt is missing: set the price of a token; "0" is free',
      'models.own.pricing.completion is missing: set the price of a token; "0" is free',
      'models.other.pricing.completion is missing: set the price of a token; "0" is free',
    ]);
  });

  test("a file that was named must exist", () => {
    expect(faultsOf({ file: join(folder, "nowhere.yaml") }).join()).toMatch(/nowhere\.yaml cannot be read/);
  });
});

describe("the published schema", () => {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(configSchema());
  const accepts = (text: string): boolean => validate(parse(text));

  test("has real types", () => {
    const { port, drain_seconds, log_level, metrics_port } = configSchema().properties ?? {};
    expect(port).toMatchObject({ type: "integer", minimum: 0, maximum: 65_535, default: 8080 });
    expect(drain_seconds).toMatchObject({ type: "number", exclusiveMinimum: 0, default: 30 });
    expect(log_level).toMatchObject({ enum: ["debug", "info", "warn", "error", "silent"] });
    expect(metrics_port?.anyOf?.map(({ type }) => type)).toEqual(["integer", "string"]);
  });

  test.each([
    ["port: 1\nmodels: {model-1: {created: 2026-11-01}, model-1-mini: }", true],
    ["models: {third: {gguf: a, aliases: [gpt-4o], pricing: {prompt: '0', completion: '0'}}}", true],
    ["port: '1'", false],
    ["models: {a/b: {}}", false],
    ["models: {model-1: {unknown: 1}}", false],
  ])("agrees with the server: %s", (text, isRight) => {
    expect(accepts(text)).toBe(isRight);
    expect(faultsOf(withFile(text)).length === 0).toBe(isRight);
  });
});

test("the limits of the contract that an operator may set, and only those, are defaults of settings", () => {
  const limits = Object.entries(contract["x-limits"]);
  const setByOperator = limits.filter(([, { set_by }]) => set_by === "operator");
  const { config: defaults } = read({});
  const settingOf: Readonly<Record<string, number>> = {
    answerBytes: defaults.answerBytes,
    bodyBytesPerKey: defaults.bodyBytesPerKey,
    headDeadlineSeconds: defaults.headTimeoutMs / 1000,
    bodyDeadlineSeconds: defaults.bodyTimeoutMs / 1000,
    requestDeadlineSeconds: defaults.requestTimeoutMs / 1000,
    firstEventPatienceSeconds: defaults.firstEventMs / 1000,
    keepAliveSeconds: defaults.keepAliveMs / 1000,
    slowReaderSeconds: defaults.slowReaderMs / 1000,
  };
  expect(Object.fromEntries(setByOperator.map(([name, { value }]) => [name, value]))).toEqual(settingOf);
  expect(new Set(limits.map(([, { set_by }]) => set_by))).toEqual(new Set(["contract", "operator", "model"]));
});
