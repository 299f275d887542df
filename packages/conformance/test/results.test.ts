import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { profileNames } from "../src/contract/select-clauses.ts";
import { engines } from "../results/engines.ts";
import { gateways, mocks } from "../results/gateways.ts";
import { buildMatrix, matrixFile } from "../results/matrix.ts";
import { fileOf, hashChecks, maxAgeDays, readResults, staleNotes } from "../results/result.ts";
import type { Result } from "../results/result.ts";

const folder = fileURLToPath(new URL("../results/", import.meta.url));
const sets = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const products = [...engines, ...gateways, ...mocks];

describe.each(sets)("the results of %s", (set) => {
  const results = readResults(set);

  test("are in the folders that they name, of products that can be installed, and short", () => {
    expect(results.length).toBeGreaterThan(20);
    for (const result of results) {
      expect(existsSync(fileOf(result))).toBe(true);
      expect([...profileNames, "sandwich"]).toContain(result.profile);
      expect(products.map(({ name, version }) => `${name} ${version}`)).toContain(
        `${result.product.name} ${result.product.version}`,
      );
      expect(readFileSync(fileOf(result), "utf8").split("\n").length).toBeLessThan(200);
    }
  });

  test("are the matrix", () => {
    expect(JSON.parse(readFileSync(matrixFile(set), "utf8"))).toEqual(
      JSON.parse(JSON.stringify(buildMatrix(set, results))),
    );
  });

  test("say how old they are: a note, which fails nothing", () => {
    const notes = staleNotes(results, new Date(), hashChecks);
    if (notes.length > 0) process.stdout.write(`Judge again when you can:\n${notes.join("\n")}\n`);
    expect(notes.length).toBeLessThanOrEqual(2 * results.length);
  });
});

test("a result beyond its age, and one of other checks, are named", () => {
  const [first] = readResults(sets[0] ?? "");
  if (first === undefined) throw new Error("there are no results");
  const result: Result = { ...first, date: "2026-01-01", maxAgeDays, checks: "now" };
  const name = `${result.profile}/${result.product.name}`;
  expect(staleNotes([result], new Date("2026-01-02"), () => "now")).toEqual([]);
  expect(staleNotes([result], new Date("2026-06-01"), () => "now")).toEqual([
    `${name} is 151 days old, its limit is 120.`,
  ]);
  expect(staleNotes([result], new Date("2026-01-02"), () => "other")).toEqual([
    `${name} was judged by other checks than those of today.`,
  ]);
});

test("an unknown product is refused before anything is installed", () => {
  const { status, stderr } = spawnSync(process.execPath, [`${folder}reproduce.ts`, "no-such-product"], {
    encoding: "utf8",
  });
  expect(stderr).toContain('"no-such-product" is not a product');
  expect(status).toBe(1);
});

test("the README lists every product with its version", () => {
  const page = readFileSync(`${folder}README.md`, "utf8");
  const listed = [...page.matchAll(/^\| `([\w-]+)` +\| ([\d.]+)/gm)].map(([, name, version]) => `${name} ${version}`);
  expect(listed.toSorted()).toEqual(products.map(({ name, version }) => `${name} ${version}`).toSorted());
});
