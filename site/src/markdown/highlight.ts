import { escapeHtml } from "./escape-html.ts";

/** Colours code at the build, so that pages need no script for it. Knows comments, strings, numbers and keywords. */

const words = {
  ts: "as async await break case catch class const continue default else export extends false finally for from function if implements import in interface let new null of private public readonly return static super switch this throw true try type typeof undefined using var void while yield",
  python:
    "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield",
  go: "break case chan const continue default defer else error false for func go if import interface map nil package range return select string struct switch true type var",
  java: "boolean break case catch class const continue else extends false final finally for if implements import instanceof int interface new null package private protected public record return static String switch this throw throws true try var void while",
  rust: "as async await break const continue crate else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
  sh: "case do done elif else esac export fi for function if in then while",
  json: "false null true",
  yaml: "false null true",
  none: "",
} as const;

type Family = keyof typeof words;

/** The names of each family behind the fence of a code block. */
const names: Readonly<Record<Exclude<Family, "none">, string>> = {
  ts: "ts typescript js javascript mjs",
  python: "python py ruby rb",
  go: "go",
  java: "java kotlin kt php",
  rust: "rust rs",
  sh: "sh bash shell",
  json: "json",
  yaml: "yaml yml toml ini",
};

const familyOf = (language: string): Family =>
  // The entries are those of `names`.
  ((Object.entries(names) as [Family, string][]).find(([, all]) => all.split(" ").includes(language)) ?? ["none"])[0];

const hashComments = new Set<Family>(["python", "sh", "yaml"]);

const strings = String.raw`"""[^]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])*'|` + "`(?:\\\\.|[^`\\\\])*`";

/** Returns the pattern of a language: groups are comment, string, number, word. */
function patternOf(family: Family): RegExp {
  const comment = hashComments.has(family) ? String.raw`(?<![^\s])#[^\n]*` : String.raw`\/\/[^\n]*|\/\*[^]*?\*\/`;
  const quoted = family === "yaml" ? String.raw`"(?:\\.|[^"\\\n])*"` : strings;
  // In a shell, addresses, versions and dates are not numbers.
  const number = family === "sh" ? String.raw`(?<=\s)\d[\d.]*(?!\S)` : String.raw`\b\d[\d_.]*\b`;
  return new RegExp(String.raw`(${comment})|(${quoted})|(${number})|([A-Za-z_$][\w$]*)`, "g");
}

const span = (kind: string, text: string): string => `<span class="t-${kind}">${escapeHtml(text)}</span>`;

/** Returns code as HTML. The text of a language that it does not know is only escaped. */
export function highlight(code: string, language: string): string {
  if (language === "sse") return highlightEvents(code);
  if (language === "console") return code.replaceAll(/^(\$ )?.*$/gm, highlightLine);
  const family = familyOf(language);
  if (family === "none") return escapeHtml(code);
  const keywords = new Set<string>(words[family].split(" "));
  const pattern = patternOf(family);
  let html = "";
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const [text, comment, quoted, number, word = ""] = match;
    html += escapeHtml(code.slice(end, match.index));
    end = match.index + text.length;
    if (comment) html += span("c", text);
    else if (quoted) html += span(isName(family, code, end) ? "n" : "s", text);
    else if (number && family !== "sh") html += span("d", text);
    else html += keywords.has(word) ? span("k", text) : escapeHtml(text);
  }
  return html + escapeHtml(code.slice(end));
}

/** Checks whether the string that ends here is the name of a member of JSON. */
const isName = (family: Family, code: string, end: number): boolean =>
  family === "json" && /^\s*:/.test(code.slice(end, end + 4));

/** Marks the commands of a session, so that they stand out from their output. */
const highlightLine = (line: string, prompt: string | undefined): string =>
  prompt === undefined ? escapeHtml(line) : span("c", prompt) + span("p", line.slice(prompt.length));

/** Colours an event stream: the field name, and the JSON behind it. */
function highlightEvents(text: string): string {
  const lines = text.split("\n").map((line) => {
    if (line.startsWith(":")) return span("c", line);
    const [, name, data] = /^(data: )(.*)$/.exec(line) ?? [];
    return name === undefined || data === undefined ? escapeHtml(line) : span("k", name) + highlight(data, "json");
  });
  return lines.join("\n");
}
