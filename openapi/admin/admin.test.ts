import admin from "@parley/contract/admin.json" with { type: "json" };
import { describe, expect, test } from "vitest";
import { contractFolder, lint, lintBroken } from "../checks/redocly.ts";

/** An example of an error. */
interface Shown {
  readonly value: { readonly error: { readonly code: string; readonly type: string } };
}

const documents = { entry: "admin/openapi.yaml", rules: "admin/redocly.yaml" };

test("the contract of the admin API keeps the rules of the public one", async () => {
  expect(await lint(contractFolder, documents.entry, documents.rules)).toEqual([]);
});

describe("the rules find it when", () => {
  const faults: readonly (readonly [title: string, file: string, text: string, replacement: string, rule: string])[] = [
    ["a status is missing", "admin/paths/keys.yaml", '"409": {', '"410": {', "parley/operation-statuses"],
    ["a text has no length", "admin/schemas.yaml", "maxLength: 40,", "", "parley/request-bounds"],
    ["an answer has no request id", "admin/paths/keys.yaml", "x-request-id:", "x-id:", "response-contains-header"],
    ["an operation has no example", "admin/paths/groups.yaml", "examples:", "x-none:", "parley/body-example"],
  ];
  test.concurrent.each(faults)("%s", async (_title, file, text, replacement, rule) => {
    expect(await lintBroken(file, text, replacement, documents)).toContain(rule);
  });
});

test("the catalogue has exactly the codes of ErrorCode", () => {
  expect(Object.keys(admin["x-error-catalog"])).toEqual(admin.components.schemas.ErrorCode.enum);
});

test("the entries of the catalogue have a status, a type and a remedy, and nothing else", () => {
  for (const entry of Object.values(admin["x-error-catalog"]))
    expect(Object.keys(entry)).toEqual(["status", "type", "remedy"]);
});

test("every code of the catalogue has an example, with its type", () => {
  const bodies = Object.values(admin.components.responses).map(({ content }) => content["application/json"].examples);
  const shown = bodies.flatMap((examples) => Object.values<Shown>(examples).map(({ value }) => value.error));
  const codes = Object.entries(admin["x-error-catalog"]).map(([code, { type }]) => `${code} ${type}`);
  expect(new Set(shown.map(({ code, type }) => `${code} ${type}`))).toEqual(new Set(codes));
  for (const examples of bodies)
    expect(Object.keys(examples)).toEqual(Object.values<Shown>(examples).map(({ value }) => value.error.code));
});

test("every scope of an operation is one that an admin key can have, and every scope is used", () => {
  const operations = Object.values(admin.paths).flatMap((path) => Object.values(path));
  const scopes = operations.flatMap((operation) => ("x-scope" in operation ? [operation["x-scope"]] : []));
  expect(new Set(scopes)).toEqual(new Set(admin.components.schemas.Scope.enum));
});

test("RE2, Python and Java read every pattern, too: no \\u, \\p, look-around or back-reference", () => {
  const patterns = Array.from(JSON.stringify(admin).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g), ([, text = ""]) =>
    String(JSON.parse(text)),
  );
  expect(patterns.length).toBeGreaterThan(10);
  expect(patterns.filter((pattern) => /\\[upPk1-9]|\(\?(?!:)/.test(pattern))).toEqual([]);
});
