import { expect, test } from "vitest";
import { fillHeaders } from "./endpoint.ts";

const origin = { key: "k1", user: "ann", metadata: { session: "s 1\r\nx-evil: 1" } };

test.each([
  ["as it is", "parley", "parley"],
  ["with the key's id", "key-{key}", "key-k1"],
  ["with two values", "{key}/{user}", "k1/ann"],
  ["with metadata, made harmless", "{metadata.session}", "s?1??x-evil:?1"],
  ["with braces that mean nothing", "{other}", "{other}"],
  ["not at all without its value", "{metadata.none}", undefined],
  ["not at all for a member of every object", "{metadata.constructor}", undefined],
])("a header is sent %s", (_title, template, want) => {
  expect(fillHeaders({ "x-a": template }, origin)["x-a"]).toBe(want);
});

test("a probe has no caller", () => {
  expect(fillHeaders({ a: "{key}", b: "static" }, undefined)).toEqual({ b: "static" });
});
