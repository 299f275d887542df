import ts from "typescript";
import { expect, test } from "vitest";
import { files, read } from "./tree.ts";

/** Compares docs/glossary.md with the tree: its terms are names in the code, and its retired words are not. */

interface Row {
  readonly term: string;
  readonly names: readonly string[];
  readonly retired: readonly string[];
}

const quoted = (cell = ""): string[] => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name = ""]) => name);

/** The rows of its tables: term, meaning, names in the code, retired words. */
const rows: readonly Row[] = read("docs/glossary.md")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| term") && !line.startsWith("| --"))
  .map((line) => line.split(/(?<!\\)\|/))
  .map((cells) => ({ term: cells[1]?.trim() ?? "", names: quoted(cells[3]), retired: quoted(cells[4]) }));

const isCode = (path: string): boolean => /\.(ts|mjs)$/.test(path) && !path.includes("/generated/");

/** Splits a name into words: `RemoteKeeper`, `remoteKeeper`, `remote_keeper` and `remote-keeper.ts` contain "remote keeper". */
const wordsOf = (name: string): string =>
  ` ${name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[^A-Za-z0-9]+/g, " ")
    .toLowerCase()
    .trim()} `;

function identifiersIn(path: string, text: string): Set<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return found;
}

const isNamed = (name: string, retired: string): boolean => wordsOf(name).includes(wordsOf(retired));

/** Searches a text quickly, so that only few files are parsed. */
const mayHold = (text: string, retired: string): boolean =>
  new RegExp(retired.replaceAll(" ", "[^a-z0-9]?"), "i").test(text);

/** Finds the retired words in a file's name and its identifiers. */
function findRetired(path: string, text: string, retired: readonly string[]): string[] {
  const suspects = retired.filter((word) => mayHold(path, word) || mayHold(text, word));
  if (suspects.length === 0) return [];
  const names = [path.split("/").at(-1) ?? "", ...identifiersIn(path, text)];
  return suspects.flatMap((word) => names.filter((name) => isNamed(name, word)).map((name) => `${name} (${word})`));
}

test("a retired word is found in names of every spelling, as a whole word, and not in prose", () => {
  const text =
    "const RemoteKeeper = { keeperMs: 1 }; // keeper\nclass bookkeeper { #keeper = 'keeper'; tellsApart() {} tellApart() {} }";
  expect(findRetired("src/health-keeper.ts", text, ["keeper", "tell apart", "lease"])).toEqual([
    "health-keeper.ts (keeper)",
    "RemoteKeeper (keeper)",
    "keeperMs (keeper)",
    "#keeper (keeper)",
    "tellApart (tell apart)",
  ]);
});

const code = files.filter((path) => isCode(path) && path !== "repository-tests/glossary.test.ts");

test("the glossary has one row per term", () => {
  const terms = rows.map(({ term }) => term);
  expect(terms).toEqual([...new Set(terms)]);
});

test("the glossary names only what the code has", () => {
  const texts = code.map((path) => `${path} ${read(path)}`).join("\n");
  const named = rows.flatMap(({ names }) => names);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(texts))).toEqual([]);
});

test("no retired word comes back as a name", () => {
  const retired = rows.flatMap((row) => row.retired);
  expect(retired.length).toBeGreaterThan(20);
  expect(code.flatMap((path) => findRetired(path, read(path), retired).map((found) => `${path}: ${found}`))).toEqual(
    [],
  );
});
