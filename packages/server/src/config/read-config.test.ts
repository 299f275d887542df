import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configSchema } from "./config-schema.ts";
import { options, settingNames } from "./options.ts";
import { ConfigError, readConfig } from "./read-config.ts";
import type { ConfigSources } from "./read-config.ts";

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

function mistakesOf(sources: Partial<ConfigSources>): readonly string[] {
  try {
    read(sources);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}

/** A default as an operator would write it; empty: none. */
const written = ({ env, fallback = "" }: (typeof options)[keyof typeof options]): string =>
  env.endsWith("_SECONDS") ? String(Number(fallback) / 1000) : [fallback].flat().join(",");

describe("every setting", () => {
  const defaults = settingNames.map((name) => options[name]).filter((row) => written(row) !== "");

  test.each(defaults)("$env reads its own default", (row) => {
    expect(row.read(written(row))).toEqual(row.fallback);
  });

  test("has a name of its own, and a sentence", () => {
    const rows = settingNames.map((name) => options[name]);
    expect(new Set(rows.map(({ env }) => env)).size).toBe(rows.length);
    for (const { help } of rows) expect(help.length).toBeGreaterThan(5);
  });

  test("that is no secret is in the schema of parley.yaml, and no secret is", () => {
    const members = Object.keys((configSchema() as { properties: object }).properties).filter(
      (name) => name !== "models",
    );
    expect(members.toSorted()).toEqual(settingNames.flatMap((name) => options[name].key ?? []).toSorted());
  });
});

describe("where a value comes from", () => {
  test("a flag wins over the environment, that over the file, that over the default", () => {
    const file = withFile("port: 1\n");
    expect(read({}).config.port).toBe(8080);
    expect(read(file).config.port).toBe(1);
    expect(read({ ...file, env: { PORT: "2" } }).config.port).toBe(2);
    const all = read({ ...file, env: { PORT: "2" }, flags: { port: "3" } });
    expect(all.config.port).toBe(3);
    expect(all.origins.port).toBe("flag");
  });

  test("an empty variable is none", () => {
    expect(read({ env: { PORT: "" } }).origins.port).toBe("default");
  });
});

describe("mistakes", () => {
  test.each([
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "8080.5"],
    ["PORT", "0x50"],
    ["VENDOR", "a/b"],
    ["PARLEY_ENGINE", "none"],
    ["PARLEY_METRICS_PORT", "on"],
    ["PARLEY_API_KEY", "short"],
  ])("%s=%s", (name, value) => {
    const [mistake = "", ...others] = mistakesOf({ env: { [name]: value } });
    expect(mistake).toMatch(new RegExp(`^${name} must be `));
    expect(others).toEqual([]);
  });

  test("a secret is not repeated", () => {
    expect(mistakesOf({ env: { PARLEY_API_KEY: "tooshort" } }).join()).not.toContain("tooshort");
  });

  test("are told together, from every source", () => {
    const sources = { ...withFile("vendor: 'a b'\nunknown: 1\n"), env: { PORT: "x" }, flags: { host: "not a host" } };
    expect(mistakesOf(sources)).toHaveLength(4);
  });

  test.each([
    ["a: [", /cannot be read/],
    ["- 1", /must be a YAML mapping/],
    ["models: {model-9: {}}", /model-9/],
    ["models: {model-1: {remote: {protocol: grpc}}}", /models\.model-1\.remote\.protocol/],
  ])("in the file: %s", (text, reason) => {
    expect(mistakesOf(withFile(text)).join("\n")).toMatch(reason);
  });

  test("a file that was asked for must be there", () => {
    expect(mistakesOf({ file: join(folder, "nowhere.yaml") }).join()).toMatch(/nowhere\.yaml cannot be read/);
  });
});
