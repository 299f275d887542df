import ts from "typescript";
import { describe, expect, test } from "vitest";
import { files, read } from "./tree.ts";

interface Rule {
  readonly name: string;
  /** Tried on each sentence. */
  readonly pattern: RegExp;
  readonly matches: string;
  readonly passes: string;
}

const rules: readonly Rule[] = [
  {
    name: "a sentence starts with its subject or verb, not with a question word as a noun",
    pattern: /^(?:What|Whose|How many|How much|Whether|Who|Whoever)\b(?!.*\?\W*$)/,
    matches: "What the slots of a model share.",
    passes: "What is a slot?",
  },
  {
    name: "a sentence is not a relative clause",
    pattern: /^(?:Of which|Which)\b(?!.*\?\W*$)/,
    matches: "Which ends the stream.",
    passes: "The last event, which ends the stream.",
  },
  {
    name: "`is not a`, not `is no`",
    pattern: /(?<!\bthere )\b(?:is|are|was|were|be) no (?!longer\b|more\b|less\b|fewer\b|later\b|one\b)\w/i,
    matches: "The body is no JSON.",
    passes: "There is no body, and it is no longer read.",
  },
  {
    name: "`its`, `a client that`, `running`, `again`",
    pattern: /\b(?:of (?:its|their) own accord|whoever|under way|anew)\b/i,
    matches: "It starts anew.",
    passes: "It starts again.",
  },
  {
    name: "a number has a name, not `so many`",
    pattern: /(?<!\bnot )\bso (?:many|much|long)\b(?! (?:as|that)\b)/i,
    matches: "Waits for so many milliseconds.",
    passes: "So many that it fails, as long as it runs.",
  },
];

/** Texts that a program wrote, that were copied, or that record the past. */
const isSkipped = (path: string, text: string): boolean =>
  /(?:^|\/)(?:generated|captures|official-suite|reports|results|site|corpus|CHANGELOG\.md)(?:\/|$)/.test(path) ||
  /\b(?:[Gg]enerated by `|Written by `python|unedited)/.test(text.slice(0, 200));

const paragraphsOf = (text: string): string[] =>
  text
    .replaceAll(/^( *)```[^]*?^\1```|<!--[^]*?-->/gm, "\n\n")
    .split(/\n\s*\n|\n(?=\s*(?:[-*#|>]|\d+\.)\s?)|(?<!\\)\|/)
    .map((paragraph) => paragraph.replace(/^\s*(?:[-*#>]+|\d+\.) /, ""));

const hashComments = /"""([^]*?)"""|(?<=^|\s)#+ (.*(?:\n[ \t]*# .*)*)/gm;

const hashCommentsOf = (text: string): string[] =>
  Array.from(text.matchAll(hashComments), ([, docstring, comment = ""]) => docstring ?? comment).flatMap((comment) =>
    comment.replaceAll(/^[ \t]*# ?/gm, "").split(/\n\s*\n/),
  );

/** Comments of a source; `//` on neighbouring lines are one text. */
function commentsOf(path: string, text: string): string[] {
  const ends = new Map<number, number>();
  const visit = (node: ts.Node): void => {
    const afterComma = /[,;]/.test(text[node.end] ?? "") ? [node.end + 1] : [];
    for (const at of [node.pos, node.end, ...afterComma]) {
      const ranges = [ts.getLeadingCommentRanges(text, at), ts.getTrailingCommentRanges(text, at)];
      for (const { pos, end } of ranges.flatMap((range) => range ?? [])) ends.set(pos, end);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  let last = 0;
  return [...ends]
    .toSorted(([a], [b]) => a - b)
    .map(([pos, end]) => {
      const goesOn = text.startsWith("//", pos) && /^\n[ \t]*$/.test(text.slice(last, pos));
      last = end;
      const comment = text.slice(pos, end).replaceAll(/^\/\*+|\*+\/$|^\/\/|^[ \t]*\*/gm, "");
      return `${goesOn ? "\n" : "\0"}${comment}`;
    })
    .join("")
    .split(/\0|\n\s*\n|@\w+|\n\s*- /);
}

/** Messages and test titles: strings of at least three words, without ids of clauses. Questions to a model are left out. */
const stringsOf = (text: string): string[] =>
  Array.from(
    text.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g),
    ([, quoted, template = ""]) => quoted ?? template,
  )
    .map((string) => string.replace(/^(?:[A-Z]+-\d+ )+/, ""))
    .filter((string) => /^\S+ \S+ \S/.test(string) && !string.includes("?"));

/** Descriptions, and the sentences of clauses. */
const yamlTextsOf = (text: string): string[] =>
  Array.from(
    text.matchAll(/^( *)(?:- )?(?:description|summary|sentence|why|comply): (?:[>|]-?\n((?:\1 +.*\n|\n)+)|"?(.+))/gm),
    ([, , block, line = ""]) => block ?? line,
  ).flatMap(paragraphsOf);

const textsOf = (path: string, text: string): string[] => {
  if (path.endsWith(".md")) return paragraphsOf(text);
  if (path.endsWith(".yaml")) return [...hashCommentsOf(text), ...yamlTextsOf(text)];
  return path.endsWith(".py") ? hashCommentsOf(text) : [...commentsOf(path, text), ...stringsOf(text)];
};

const sentencesOf = (text: string): string[] =>
  text
    .replaceAll(/`[^`]*`/g, "`code`")
    .replaceAll(/\s+/g, " ")
    .split(/(?<=[.!?:;][)"*]*) (?=["(*]*[A-Z`])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\w/.test(sentence));

/** @returns the name of each broken rule with its sentence */
const judgeProse = (texts: readonly string[]): string[] =>
  texts
    .flatMap(sentencesOf)
    .flatMap((sentence) =>
      rules
        .filter(({ pattern }) => pattern.test(sentence.replace(/^["(*_]+/, "")))
        .map(({ name }) => `${name}: ${sentence}`),
    );

const classes = /^(?:export )?(?:abstract )?class (\w+) extends (\w+)[^{\n]*\{(\}|[^]*?^\})/gm;
const isCode = (path: string): boolean => /\.(?:ts|mjs)$/.test(path);

/** The classes of the tree that have a base, by name. */
const bases = new Map(
  files
    .filter(isCode)
    .flatMap((path) => [...read(path).matchAll(classes)])
    .map(([, name, base = "", body = ""]) => [name, { base, setsName: /\bname = /.test(body) }] as const),
);

const isError = (name?: string): boolean =>
  name !== undefined && (/^(?:Range|Type)?Error$/.test(name) || isError(bases.get(name)?.base));

const setsName = (name?: string): boolean =>
  name !== undefined && (bases.get(name)?.setsName === true || setsName(bases.get(name)?.base));

const prepositions =
  "as|at|behind|beside|between|by|for|from|in|into|its|of|on|over|per|since|to|under|via|with|without";
const exportedName = "^export (?:async )?(?:const|let|function\\*?|type|interface|class) ";
const bareName = new RegExp(`${exportedName}((?:${prepositions})(?:All|Any|Both|Each|None)?)\\b`, "gm");

/** @returns the error classes and exported names that break a rule */
const judgeNames = (text: string): string[] => [
  ...[...text.matchAll(classes)]
    .map(([, name = ""]) => name)
    .filter((name) => isError(name) && !(name.endsWith("Error") && setsName(name)))
    .map((name) => `an error class ends in Error and sets its name: ${name}`),
  ...Array.from(
    text.matchAll(/^export (?:async )?(?:const|let|function|type|interface) (most[A-Z]\w*)/gm),
    ([, name = ""]) => `a bound is max… or min…: ${name}`,
  ),
  ...Array.from(text.matchAll(bareName), ([, name = ""]) => `a name is more than a preposition: ${name}`),
];

test("bounds and bare prepositions are found among names", () => {
  const text = "export const mostTokens = 1;\nexport function ofAll() {}\nexport const toText = 1;";
  expect(judgeNames(text).map((finding) => finding.split(": ")[1])).toEqual(["mostTokens", "ofAll"]);
});

describe.each(rules)("$name", ({ pattern, matches, passes }) => {
  test("the pattern matches its sample and passes the other", () => {
    expect(matches).toMatch(pattern);
    expect(passes).not.toMatch(pattern);
  });
});

test("comments, strings, descriptions and paragraphs of Markdown are read", () => {
  const typescript =
    "/** What\n * it is. */\nconst a = [1, // One.\n];\n// Two\n// lines.\nf('// no', \"HTTP-01 is no JSON\");";
  const found = ["What it is.", "One.", "Two lines.", "is no JSON"];
  expect(textsOf("a.ts", typescript).flatMap(sentencesOf)).toEqual(found);
  const yaml = "a: # One.\n  description: >-\n    Two\n    lines.\n- why: Three words here.\n";
  expect(textsOf("a.yaml", yaml).flatMap(sentencesOf)).toEqual(["One.", "Two lines.", "Three words here."]);
  const python = 'def f():\n    """Returns.\n\n    Why not."""\n    x = "#a"  # One.\n    # Two\n    # lines.\n';
  expect(textsOf("a.py", python).flatMap(sentencesOf)).toEqual(["Returns.", "Why not.", "One.", "Two lines."]);
  const page = "# Title\n\nOne.\nTwo. What (3)?\n\n- item\n\n```sh\nWhat\n```\n\n| a | b |\n| - | - |\n";
  expect(textsOf("a.md", page).flatMap(sentencesOf)).toEqual(["Title", "One.", "Two.", "What (3)?", "item", "a", "b"]);
});

test("texts and names of the tree are plain", { timeout: 300_000 }, () => {
  const judged = files.filter(
    (path) => /\.(?:ts|mjs|py|yaml|md)$/.test(path) && path !== "repository-tests/prose.test.ts",
  );
  const findings = judged.flatMap((path) => {
    const text = read(path);
    if (isSkipped(path, text)) return [];
    const broken = [...judgeProse(textsOf(path, text)), ...(isCode(path) ? judgeNames(text) : [])];
    return broken.map((finding) => `${path}: ${finding}`);
  });
  expect(findings).toEqual([]);
});
