import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { matrixFile, readResults, renderMatrix } from "../src/matrix.ts";
import { programs } from "../src/run-tool.ts";
import { tools } from "../src/tools.ts";

test("the committed matrix is what the table of tools and the last results give", () => {
  expect(readFileSync(matrixFile, "utf8")).toBe(renderMatrix(tools, readResults()));
});

test("every tool has a program, and every program a tool", () => {
  const names = tools.map(({ name }) => name);
  expect(readdirSync(programs).toSorted()).toEqual(names.toSorted());
  expect(names.filter((name) => !existsSync(join(programs, name)))).toEqual([]);
});

test("every tool was run in the version that the table names", () => {
  const results = readResults();
  expect(tools.filter(({ name, version }) => results[name]?.version !== version)).toEqual([]);
  expect(Object.keys(results).filter((name) => !tools.some((tool) => tool.name === name))).toEqual([]);
});

test("a tool that fails has remarks that say why", () => {
  const failing = tools.filter(({ name }) => Object.values(readResults()[name] ?? {}).includes("failed"));
  expect(failing.filter(({ remarks }) => remarks === "").map(({ name }) => name)).toEqual([]);
});
