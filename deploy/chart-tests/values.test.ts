import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { miniFolder } from "@parley/inference/testing";
import { openPlace } from "@parley/inference/testing/places";
import { parley, startTestServer } from "@parley/server/testing";
import manifest from "../../package.json" with { type: "json" };
import { fileOf, frontFiles } from "./modes.ts";
import { chart } from "./tools.ts";

// The part of the chart that can be checked without Helm.

type Tree = Readonly<Record<string, unknown>>;
/** The settings of a model of a values file. */
interface Remote {
  readonly engine: "remote";
  readonly slots: number;
  readonly remote: { readonly urls: readonly string[]; readonly model: string; readonly tokenizer: string };
}

const read = (path: string): string => readFileSync(path, "utf8");
const yaml = (path: string): Tree => parse(read(path)) as Tree; // our own files
const check = new Ajv2020({ strict: false, allErrors: true }).compile(
  JSON.parse(read(join(chart, "values.schema.json"))) as object, // our own file
);
const faultsOf = (values: Tree): unknown[] => (check(values) ? [] : (check.errors ?? []));
const defaults = yaml(join(chart, "values.yaml"));

const folder = mkdtempSync(join(tmpdir(), "parley-chart-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the chart has the version of the server", () => {
  expect(yaml(join(chart, "Chart.yaml"))).toMatchObject({ version: manifest.version, appVersion: manifest.version });
});

describe("values.schema.json", () => {
  test("accepts the defaults", () => {
    expect(faultsOf(defaults)).toEqual([]);
  });

  test("describes every value of values.yaml, and no others", () => {
    const { properties } = JSON.parse(read(join(chart, "values.schema.json"))) as { readonly properties: Tree };
    expect(Object.keys(properties).filter((name) => name !== "global")).toEqual(Object.keys(defaults));
  });

  test.each([
    ["a misspelt value", { replicaCount: 3 }],
    ["a misspelt member", { image: { repo: "x" } }],
    ["a setting that parley.yaml does not have", { config: { queue_lenght: 3 } }],
    [
      "an unknown front",
      { config: { models: { a: { engine: "remote", remote: { urls: ["http://a"], front: "b" } } } } },
    ],
    ["half a server", { replicas: 1.5 }],
    ["a number as text", { drainSeconds: "30" }],
    ["a digest that is not one", { image: { digest: "latest" } }],
  ])("refuses %s", (_fault, values) => {
    expect(faultsOf({ ...defaults, ...values })).not.toEqual([]);
  });
});

describe.each(frontFiles)("%s", (name) => {
  test("has values of the schema, and says in its head whether it was run", () => {
    expect(faultsOf({ ...defaults, ...yaml(fileOf(name)) })).toEqual([]);
    expect(read(fileOf(name))).toMatch(/^# .*\b(?:Only rendered|Was run)\b/);
  });

  test("has settings that the server takes", async () => {
    const file = join(folder, name);
    writeFileSync(file, stringify(yaml(fileOf(name))["config"]));
    expect(await parley(["config", "check", "--config", file])).toMatchObject({ code: 0 });
  });

  test("makes a server answer, with another address, name and tokenizer", async () => {
    const place = await openPlace();
    const { models } = yaml(fileOf(name))["config"] as { readonly models: { readonly "model-1": Remote } };
    const { remote, ...rest } = models["model-1"];
    const here = { ...rest, remote: { ...remote, urls: [place.url], model: "there", tokenizer: miniFolder } };
    await using server = await startTestServer({ settings: { models: { "model-1": here } } });
    expect((await server.complete({ max_completion_tokens: 4 })).choices).toHaveLength(1);
  });
});

test("the chart has the alert rules and the board of this repository, not copies", () => {
  for (const name of ["alerts.yaml", "grafana.json"])
    expect(read(join(chart, "files", name))).toBe(read(join(chart, "..", name)));
});
