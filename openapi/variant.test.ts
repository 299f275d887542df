import { openapiSchemaToJsonSchema } from "@openapi-contrib/openapi-schema-to-json-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import draft4 from "ajv-draft-04";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { valueAt, objectsIn, operationsOf } from "@parley/contract/document";
import type { Document, JsonObject, Transcript } from "@parley/contract/document";
import { bundle, lintBundle, lintRecommended } from "./checks/redocly.ts";
import { requestBodies } from "./checks/request-bodies.ts";
import { runStream } from "@parley/contract/stream-machine";
import type { Streams } from "@parley/contract/stream-words";
import { contractFiles } from "./variants/index.ts";
import { lostIn30, to30 } from "./variants/to-3.0.ts";
import { to32 } from "./variants/to-3.2.ts";

let canonical: Document;
let variant: Document;

beforeAll(async () => {
  [canonical, variant] = await Promise.all([bundle(), bundle("overlays/to-3.2.yaml")]);
});

test("the 3.2 variant that is served is that of the overlay", () => {
  // A bundle is JSON.
  expect(to32(canonical as unknown as JsonObject)).toEqual(variant);
});

const streamOf = (document: Document) => operationsOf(document)[0]?.responses["200"]?.content?.["text/event-stream"];

test("the 3.2 variant describes the stream item by item", () => {
  expect(variant.openapi).toBe("3.2.0");
  expect(streamOf(variant)?.itemSchema).toEqual({ $ref: "#/components/schemas/ServerSentEvent" });
  expect(streamOf(variant)?.schema).toBeUndefined();
});

test("the 3.2 variant differs from the contract in nothing else", () => {
  const back = structuredClone(variant);
  back.openapi = canonical.openapi;
  const [stream, original] = [streamOf(back), streamOf(canonical)];
  if (!stream || !original) throw new Error("the contract has no stream");
  const { schema, examples } = original;
  Object.assign(stream, { schema, examples });
  delete stream.itemSchema;
  expect(back).toEqual(canonical);
});

test("the 3.2 variant passes the lint of the contract", async () => {
  expect(await lintBundle(variant)).toEqual([]);
});

describe("the 3.0 variant", () => {
  let older: JsonObject;
  beforeAll(() => {
    older = to30(canonical as unknown as JsonObject); // a bundle is JSON
  });

  test("passes the recommended lint of OpenAPI 3.0", async () => {
    expect(older["openapi"]).toBe("3.0.3");
    // Generated clients need `StreamError`, but in 3.0 nothing can refer to it.
    const found = await lintRecommended(older);
    expect(found.filter((rule) => rule !== "no-unused-components")).toEqual([]);
  });

  test("judges requests like the contract, except for what is listed as lost", () => {
    const contract = judgeOf(canonical.components.schemas);
    const comparable = judgeOf(withoutLost(canonical.components.schemas));
    const judge = olderJudge(valueAt(older, "/components/schemas") as Record<string, JsonObject>);
    const count = { valid: 0, invalid: 0, lost: 0 };
    const bodies = fc.sample(requestBodies(canonical.components.schemas), { numRuns: 4000, seed: 20261123 });
    // A number beyond the largest double is parsed as infinity, which is not a JSON value.
    for (const body of bodies.filter((text) => !text.includes("1e400")).map((text): unknown => JSON.parse(text))) {
      const verdict = comparable(body);
      expect([body, judge(body)]).toEqual([body, verdict]);
      count[verdict ? "valid" : "invalid"] += 1;
      if (contract(body) !== verdict) count.lost += 1;
    }
    expect(Math.min(count.valid, count.invalid)).toBeGreaterThanOrEqual(500);
    expect(count.lost).toBeGreaterThan(0);
  });
});

const judgeOf = (schemas: Readonly<Record<string, JsonObject>>): ((body: unknown) => boolean) =>
  new Ajv2020({ strict: false, validateFormats: false }).compile({
    $ref: "#/components/schemas/ChatCompletionRequest",
    components: { schemas },
  });

/** Returns the contract's schemas without the parts that `lostIn30` names. */
function withoutLost(schemas: Readonly<Record<string, JsonObject>>): Record<string, JsonObject> {
  const copy = structuredClone(schemas);
  for (const schema of objectsIn(copy))
    for (const keyword of lostIn30.keywords) Reflect.deleteProperty(schema, keyword);
  for (const name of lostIn30.nulls) {
    const { oneOf } = valueAt(copy, `/ChatCompletionRequest/properties/${name}`) as { oneOf: JsonObject[] }; // it is a union
    oneOf.splice(
      oneOf.findIndex(({ type }) => type === "null"),
      1,
    );
  }
  return copy;
}

/** Validates with the schemas of OpenAPI 3.0. A library translates their keywords, such as `nullable`, to JSON Schema. */
function olderJudge(schemas: Readonly<Record<string, JsonObject>>): (body: unknown) => boolean {
  const translated = Object.entries(schemas).map(
    ([name, schema]) => [name, openapiSchemaToJsonSchema(schema)] as const,
  );
  const AjvDraft4 = draft4.default;
  return new AjvDraft4({ strict: false, validateFormats: false }).compile({
    allOf: [{ $ref: "#/components/schemas/ChatCompletionRequest" }],
    components: { schemas: Object.fromEntries(translated) },
  });
}

describe("every file that is served", () => {
  let files: Map<string, string>;
  beforeAll(async () => {
    files = contractFiles(canonical);
  });

  test("says the same in YAML 1.1 as in JSON, to the reader that Python has", async () => {
    const names = [...files.keys()].filter((name) => name.endsWith(".yaml"));
    expect(names.length).toBe(3);
    for (const name of names) {
      const read = parse(files.get(name) ?? "", { version: "1.1", maxAliasCount: -1 }) as unknown;
      expect(read).toEqual(JSON.parse(files.get(name.replace(".yaml", ".json")) ?? ""));
    }
  });

  test("streams.json is complete and validates the events of every transcript", () => {
    const { ["x-transcripts"]: transcripts, ...schema } = streamsFile();
    const judge = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    const events = Object.values(transcripts).flatMap(({ value }) =>
      [...value.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data),
    );
    expect(events.length).toBeGreaterThan(30);
    expect(events.filter((data) => !judge(JSON.parse(data ?? "")))).toEqual([]);
    expect(judge({ choices: [] })).toBe(false);
  });

  test("streams.json has everything that its own transcripts need", () => {
    const { ["x-streams"]: streams, ["x-transcripts"]: transcripts } = streamsFile();
    const ends = Object.entries(transcripts).map(([name, { value, "x-inputs": inputs }]) => {
      const { violation, end } = runStream(streams, inputs, value);
      return [name, violation, end];
    });
    expect(ends.length).toBeGreaterThan(7);
    const isFailure = (name: unknown): boolean => name === "error";
    expect(ends).toEqual(ends.map(([name]) => [name, undefined, isFailure(name) ? "failed" : "done"]));
  });

  interface StreamsFile extends JsonObject {
    "x-streams": Streams & JsonObject;
    "x-transcripts": Record<string, Transcript & JsonObject>;
  }
  const streamsFile = (): StreamsFile => JSON.parse(files.get("streams.json") ?? "") as StreamsFile; // made in variants/
});
