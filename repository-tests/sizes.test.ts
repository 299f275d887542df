import ts from "typescript";
import { expect, test } from "vitest";
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
