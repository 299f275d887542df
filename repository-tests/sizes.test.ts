import { dirname, join, normalize } from "node:path/posix";
import ts from "typescript";
import { expect, test } from "vitest";
import { fileOf } from "./imports.ts";
import { files, read } from "./tree.ts";

/**
 * Functions of tests have the same maximum length as those of the code. The linter checks the code. In tests it would count a
 * whole `describe` as one function, so this test looks inside of them.
 */

const maxLines = 50;
const isTest = (path: string): boolean =>
  /\.(ts|mjs)$/.test(path) && /\.test\.ts$|\/(test|testing)\//.test(path) && !path.includes("/generated/");

/** Finds the position and the length of every function, except for `describe` blocks. */
function functionsIn(path: string): (readonly [place: string, lines: number])[] {
  const source = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true);
  const found: (readonly [string, number])[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && !isDescribe(node.parent)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push([`${path}:${line + 1}`, countLines(node.getText())]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isDescribe = (node: ts.Node): boolean =>
  ts.isCallExpression(node) && /^describe\b/.test(node.expression.getText());

/** Counts lines as the linter does: without blank lines and comments. */
const countLines = (text: string): number => text.split("\n").filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line)).length;

test("no function of a test is longer than 50 lines", () => {
  const measured = files.filter(isTest).flatMap(functionsIn);
  expect(measured.length).toBeGreaterThan(1000);
  expect(measured.filter(([, lines]) => lines > maxLines)).toEqual([]);
});

/**
 * A small file with one importer usually belongs into that importer, where the reader finds it without a jump. Some are right:
 * the file of an operation, the entry of a process or thread, code that is loaded when it is first needed.
 */
const maxSmallFiles = 19;
const maxLinesOfSmall = 45;

/** Finds the files of our own that a file names: by a path, also for a thread or a later load, or by a package's export. */
const namedIn = (path: string): string[] =>
  [...read(path).matchAll(/"(\.{1,2}\/[^"]+|@parley\/[^"]+)"/g)].map(([, target = ""]) =>
    target.startsWith(".") ? normalize(join(dirname(path), target)) : fileOf(target),
  );

function findSmallFiles(): string[] {
  const code = files.filter((path) => /\.(ts|mts|mjs)$/.test(path) && !path.endsWith(".test.ts"));
  const importers = Map.groupBy(
    code.flatMap((path) => [...new Set(namedIn(path))].map((target) => ({ path, target }))),
    ({ target }) => target,
  );
  return code
    .filter((path) => /^packages\/[^/]+\/src\//.test(path) && !path.includes("/generated/"))
    .filter((path) => read(path).trimEnd().split("\n").length <= maxLinesOfSmall)
    .flatMap((path) => {
      const [first, ...others] = importers.get(path) ?? [];
      return first && others.length === 0 ? [`${path} ← ${first.path}`] : [];
    });
}

test(`at most ${maxSmallFiles} files of the packages are small and have one importer`, () => {
  const small = findSmallFiles();
  expect(small).toContain(
    "packages/server/src/operations/list-models/list-models.ts ← packages/server/src/operations/run-operation.ts",
  );
  expect(small.length, `merge some of these into their importer:\n${small.join("\n")}`).toBeLessThanOrEqual(
    maxSmallFiles,
  );
});
