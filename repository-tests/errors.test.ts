import { expect, test } from "vitest";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { files, read } from "./tree.ts";

const codes = contract.components.schemas.ErrorCode.enum.toSorted();

test("the catalogue has an entry for every code of the contract, and no other", () => {
  expect(Object.keys(contract["x-error-catalog"]).toSorted()).toEqual(codes);
});

test("the server can raise every code of the contract, and names no other", () => {
  const sources = files
    .filter((path) => /^packages\/server\/src\/.*(?<!\.test)\.ts$/.test(path) && !path.includes("/generated/"))
    .map(read);
  const quoted = new Set(
    sources.flatMap((text) => [...text.matchAll(/"([a-z]+(?:_[a-z]+)+|timeout)"/g)].map((match) => match[1])),
  );
  expect(codes.filter((code) => !quoted.has(code))).toEqual([]);
  const raised = new Set(
    sources.flatMap((text) => [...text.matchAll(/new ApiError\(\s*"([a-z_]+)"/g)].map((match) => match[1])),
  );
  expect([...raised].filter((code) => code !== undefined && !codes.includes(code))).toEqual([]);
});

test("every code has an example that carries it", () => {
  for (const code of codes) {
    const example = JSON.parse(read(`openapi/examples/errors/${code}.json`)) as { error: { code: string } }; // checked against the schema elsewhere
    expect(example.error.code).toBe(code);
  }
});
