import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GuideSession, readCommands } from "./guide-session.ts";

const guide = readFileSync(join(import.meta.dirname, "../../../docs/guides/operators-day.md"), "utf8");
let session: GuideSession;
beforeAll(async () => {
  session = await GuideSession.open();
});
afterAll(() => session[Symbol.asyncDispose]());

/** Ids in the guide, and the ids that this run has created for them. */
const ids = new Map<string, string>();
const idShape = /\breq_[0-9a-f]{24}\b|\b[0-9a-f]{12}\b/g;

/** Texts that differ in every run. The shapes match text that was escaped for a regular expression. */
const variable: readonly (readonly [shape: RegExp, stands: string])[] = [
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC"],
  [/\d{4}-\d\d-\d\dT[\d-]+Z/g, "\\d{4}-\\d\\d-\\d\\dT[\\d-]+Z"],
  [/(?<=[Pp]rocess )\d+/g, "\\d+"],
  [/\d+(?= pages)/g, "\\d+"],
  [/(?<=after )\d+ ms/g, "[\\d.]+ m?s"],
  [/(?<=Node v)\d+\\\.\d+\\\.\d+/g, "[\\d.]+"],
  // The width of a column depends on such texts.
  [/ {2,}/g, " +"],
];

/** Returns a regular expression for an output of the guide. Each id that was not seen before becomes a group. */
function toPattern(output: string): { readonly pattern: RegExp; readonly newIds: readonly string[] } {
  const newIds: string[] = [];
  const escaped = output.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
  const fixed = variable.reduce((text, [shape, stands]) => text.replaceAll(shape, stands), escaped);
  const source = fixed.replaceAll(idShape, (id) => {
    const known = ids.get(id);
    if (known !== undefined) return known;
    if (newIds.includes(id)) return `\\${newIds.indexOf(id) + 1}`;
    newIds.push(id);
    return id.startsWith("req_") ? "(req_[0-9a-f]{24})" : "([0-9a-f]{12})";
  });
  return { pattern: new RegExp(`^${source}$`), newIds };
}

/** Two models become ready in any order, and lines of CSV end with CR LF (RFC 4180). */
function normalise(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").trimEnd().split("\n");
  const ready = lines.filter((line) => line.includes(": ready,")).toSorted();
  return lines.map((line) => (line.includes(": ready,") ? ready.shift() : line)).join("\n");
}

const shown = readCommands(guide);

test("the guide shows a day, with every command that needs neither vLLM nor a schema", () => {
  const commands = shown.map(({ command }) => command).join("\n");
  for (const command of ["doctor", "config check", "start", "engine status", "stop", "backup", "restore"])
    expect(commands).toContain(`parley ${command}`);
  for (const verb of ["create", "list", "show", "update", "rotate", "disable", "enable", "delete"])
    expect(commands).toContain(`parley keys ${verb}`);
  for (const command of ["usage", "usage prune", "requests", "request"])
    expect(commands).toContain(`parley ${command} `);
});

test.each(shown)("$ $command", { timeout: 60_000 }, async ({ command, output }) => {
  const typed = command.replaceAll(idShape, (id) => ids.get(id) ?? id);
  const [printed, wanted] = [await session.run(typed), output].map(normalise) as [string, string]; // two texts, as given
  const { pattern, newIds } = toPattern(wanted);
  const match = pattern.exec(printed);
  // On a mismatch, the report shows the two texts instead of the expression.
  expect(match ? wanted : printed).toBe(wanted);
  for (const [index, id] of newIds.entries()) ids.set(id, match?.[index + 1] ?? "");
});
