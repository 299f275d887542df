import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pagePaths, textAt } from "./built-site.ts";

/** The look of the pages, as far as files show it. */

const styles = join(import.meta.dirname, "../src/styles");

test("a style for an id holds only on the pages that send requests, because members of the API have ids, too", () => {
  const strays = readdirSync(styles).flatMap((name) => {
    const rules = readFileSync(join(styles, name), "utf8").matchAll(/(?<=^|[;{}]|\*\/)\s*([^{};]*#[a-z][^{};]*)\{/g);
    const selectors = [...rules].flatMap(([, list = ""]) => list.split(/,\s*\n/));
    return selectors.filter((one) => /#[a-z]/.test(one) && !/\.(try|chat)\b|\.alone|\[aria-busy/.test(one));
  });
  expect(strays).toEqual([]);
});

test("the description of a page is prose, not a command", () => {
  const commands = pagePaths.filter((path) => /<meta name="description" content="[^"]*npx -y/.test(textAt(path)));
  expect(commands).toEqual([]);
});

test("a wide table has a label for each cell, so a narrow window can show its rows as blocks", () => {
  const bounds = textAt("/docs/guides/bounds");
  expect(bounds).toMatch(/<div class="table stack\b/);
  expect(bounds).toContain('<td data-label="set by">contract</td>');
  // The last column of the file links tests, which the server does not have.
  expect(bounds).not.toContain('<th scope="col">test</th>');
});
