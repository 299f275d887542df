import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { modelShortcuts } from "./default-models.ts";
import { readConfig } from "./read-config.ts";
import { settingNames, settings } from "./settings.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-environment-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

function faultsOf(env: Readonly<Record<string, string>>, file?: string): readonly string[] {
  try {
    readConfig({ flags: {}, env, file });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

const rows = [...settingNames.map((name) => settings[name]), ...modelShortcuts];

describe("a variable that is not a setting", () => {
  test.each([
    ["PARLEY_REQUEST_PER_MINUTE", ": did you mean PARLEY_REQUESTS_PER_MINUTE?"],
    ["PARLEY_QUEUE_LENGHT", ": did you mean PARLEY_QUEUE_LENGTH?"],
    ["PARLEY_API_KEY_FIL", ": did you mean PARLEY_API_KEY_FILE?"],
    ["PARLEY_PORT", ": did you mean PORT?"],
    ["PARLEY_MODEL_1_GUF", ": did you mean PARLEY_MODEL_1_GGUF?"],
    ["parley_data_dir", ": did you mean PARLEY_DATA_DIR?"],
    ["PARLEY_LOG", ": did you mean PARLEY_LOG_LEVEL?"],
    ["PARLEY_IDLE_SECONDS", ": did you mean PARLEY_CONNECTION_IDLE_SECONDS?"],
    ["PARLEY_SOMETHING_ELSE_ALTOGETHER", ": take it out: start --help has all names"],
    ["PARLEY_", ": take it out: start --help has all names"],
  ])("is a fault: %s", (name, hint) => {
    expect(faultsOf({ [name]: "8080" })).toEqual([`${name} is not a setting${hint}`]);
  });

  test("is accepted if another program of Parley reads it, or parley.yaml names it", () => {
    const others = {
      PARLEY_URL: "http://a",
      PARLEY_KEY: "k",
      PARLEY_IMAGE_NODE: "n",
      PARLEY_TEST_VLLM: "/v",
      PORTAL: "",
    };
    expect(faultsOf(others)).toEqual([]);
    const remote = "{urls: ['http://a'], tokenizer: t, api_key_env: PARLEY_AUDIT_TOKEN}";
    const file = fileWith("parley.yaml", `models: {model-1: {engine: remote, remote: ${remote}}}`);
    expect(faultsOf({ PARLEY_AUDIT_TOKEN: "token" }, file)).toEqual([]);
    expect(faultsOf({ PARLEY_AUDIT_TOKEN: "'token'" }, file).join()).toMatch(/PARLEY_AUDIT_TOKEN has quotation marks/);
  });
});

test.each([
  [
    "parley-metrics",
    {
      PARLEY_METRICS_SERVICE_HOST: "10.0.0.7",
      PARLEY_METRICS_SERVICE_PORT: "9464",
      PARLEY_METRICS_SERVICE_PORT_HTTP: "9464",
      PARLEY_METRICS_PORT: "tcp://10.0.0.7:9464",
      PARLEY_METRICS_PORT_9464_TCP: "tcp://10.0.0.7:9464",
      PARLEY_METRICS_PORT_9464_TCP_PROTO: "tcp",
      PARLEY_METRICS_PORT_9464_TCP_PORT: "9464",
      PARLEY_METRICS_PORT_9464_TCP_ADDR: "10.0.0.7",
    },
  ],
  ["parley", { PARLEY_SERVICE_HOST: "10.0.0.7", PARLEY_SERVICE_PORT: "8080", PARLEY_PORT: "tcp://10.0.0.7:8080" }],
  ["parley-vllm", { PARLEY_VLLM_PORT: "udp://[fd00::7]:8000", PARLEY_VLLM_PORT_8000_UDP: "udp://[fd00::7]:8000" }],
])("the variables of a Kubernetes Service %s are left out, and one notice names enableServiceLinks", (_name, env) => {
  const { notices, origins } = readConfig({ flags: {}, env });
  expect(notices).toEqual([
    expect.stringMatching(
      /^Left out PARLEY_\w+, .*: Kubernetes adds .* set "enableServiceLinks: false" in the spec of the pod\.$/,
    ),
  ]);
  expect(origins.metricsPort).toBe("default");
});

test("a name like that of a Service's variable is a setting where its value is one", () => {
  const { config, notices } = readConfig({ flags: {}, env: { PARLEY_METRICS_PORT: "9464" } });
  expect([config.metricsPort, notices]).toEqual([9464, []]);
});

describe("a value with remains of an env file's syntax", () => {
  test.each(rows.map(({ env }) => env))("in quotation marks is refused: %s", (name) => {
    for (const mark of ['"', "'"]) {
      const [fault = "", ...others] = faultsOf({ [name]: `${mark}sk-0123456789abcdef${mark}` });
      expect(fault).toMatch(new RegExp(`^${name} has quotation marks around its value: leave them out`));
      expect(fault).not.toContain("0123456789");
      expect(others).toEqual([]);
    }
  });

  test.each(rows.map(({ env }) => env))("with a Windows line end is refused: %s", (name) => {
    expect(faultsOf({ [name]: "8080\r" })).toEqual([
      expect.stringMatching(new RegExp(`^${name} ends with a line end`)),
    ]);
    expect(faultsOf({ [name]: "8080 " })).toEqual([
      expect.stringMatching(new RegExp(`^${name} begins or ends with a blank`)),
    ]);
  });

  test("may have quotation marks inside", () => {
    expect(faultsOf({ VENDOR_LABEL: '"Ours" and "yours"' })).toEqual([]);
    expect(faultsOf({ VENDOR_LABEL: 'The "Best"' })).toEqual([]);
  });

  test("is also refused in the file of a secret, and in a flag", () => {
    const file = fileWith("key", '"sk-0123456789abcdef"\n');
    expect(faultsOf({ PARLEY_API_KEY_FILE: file }).join()).toMatch(/^PARLEY_API_KEY_FILE has quotation marks/);
    expect(() => readConfig({ flags: { "--vendor-label": "'Ours'" }, env: {} })).toThrow(
      "--vendor-label has quotation marks",
    );
  });
});
