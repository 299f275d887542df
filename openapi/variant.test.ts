import { beforeAll, expect, test } from "vitest";
import { operationsOf } from "./checks/document.ts";
import type { Document } from "./checks/document.ts";
import { bundle, lintBundle } from "./checks/redocly.ts";

let canonical: Document;
let variant: Document;

beforeAll(async () => {
  [canonical, variant] = await Promise.all([bundle(), bundle("overlays/to-3.2.yaml")]);
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
