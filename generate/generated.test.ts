import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import clauses from "@parley/contract/clauses.json" with { type: "json" };
import { expect, test } from "vitest";
import { generate, root } from "./main.ts";

/** Generated files are committed, and must equal the files that `pnpm generate` would write now. */
const files = [...(await generate())];

test.each(files)("%s is what `pnpm generate` writes", async (path, text) => {
  const committed = await readFile(join(root, path), "utf8").catch(() => "(missing)");
  // Compared as one boolean, because a diff of two megabytes would flood the report.
  expect(committed === text, "run: npx -y pnpm@12.21.0 generate").toBe(true);
});

test("git marks every generated file, so that reviews fold it", () => {
  const answer = execFileSync("git", ["check-attr", "-z", "--stdin", "linguist-generated"], {
    cwd: root,
    input: files.map(([path]) => path).join("\0"),
    encoding: "utf8",
  }).split("\0");
  const values = answer.filter((_part, index) => index % 3 === 2);
  expect(values).toEqual(files.map(() => "set"));
});

test("no sentence of a clause is in more than three generated files", () => {
  const counts = clauses.map(({ id, sentence }) => ({
    id,
    paths: files.filter(([, text]) => text.includes(JSON.stringify(sentence).slice(1, -1))).map(([path]) => path),
  }));
  expect(counts.filter(({ paths }) => paths.length === 0 || paths.length > 3)).toEqual([]);
});
