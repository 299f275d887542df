import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { programsFolder, readResult } from "../src/results.ts";
import { tools } from "../src/tools.ts";

test("every tool has a program, and every program a tool", () => {
  const names = tools.map(({ name }) => name);
  expect(readdirSync(programsFolder).toSorted()).toEqual(names.toSorted());
  expect(names.filter((name) => !existsSync(join(programsFolder, name)))).toEqual([]);
});

test("every tool was run in the version that the table names", () => {
  const stale = tools.filter((tool) => readResult(tool)?.version !== tool.version);
  expect(stale.map(({ name }) => name)).toEqual([]);
});

test("a tool that fails has remarks that say why", () => {
  const failing = tools.filter((tool) => Object.values(readResult(tool) ?? {}).includes("failed"));
  expect(failing.filter(({ remarks }) => remarks === "").map(({ name }) => name)).toEqual([]);
});
