import { expect, test } from "vitest";
import { Progress } from "./progress.ts";

function record(isTTY: boolean): { readonly text: () => string; readonly progress: Progress } {
  let text = "";
  const target = { isTTY, columns: 40, write: (more: string) => void (text += more) };
  return { text: () => text, progress: new Progress(["a", "b"], target) };
}

/** Returns the lines that a terminal shows in the end. It interprets the codes for "cursor up" and "clear line". */
function screen(text: string): string[] {
  const lines: string[] = [];
  let row = 0;
  for (const written of text.trimEnd().split("\n")) {
    const [before = "", line = ""] = written.split("\u001B[2K");
    row -= Number.parseInt(before.slice(2), 10) || 0;
    lines[row] = line;
    row += 1;
  }
  return lines;
}

test("a terminal shows one line per model, whatever happens meanwhile", () => {
  const { progress, text } = record(true);
  for (const share of [10, 50, 100]) progress.step("a", `reading weights ${share} %`);
  progress.fact("b", `ready, ${"x".repeat(100)}`);
  progress.fact("a", "ready");
  expect(screen(text())).toEqual(["a: ready", `b: ready, ${"x".repeat(29)}`]);
});

test("a terminal of unknown width counts as one of 80 columns", () => {
  let text = "";
  const progress = new Progress(["a"], { isTTY: true, columns: 0, write: (more: string) => void (text += more) });
  progress.step("a", "x".repeat(100));
  expect(screen(text)).toEqual([`a: ${"x".repeat(76)}`]);
});

test("a file gets a line for each fact, and no steps", () => {
  const { progress, text } = record(false);
  for (const share of [10, 50, 100]) progress.step("a", `reading weights ${share} %`);
  progress.fact("a", "ready");
  progress.fact("b", "ready");
  expect(text()).toBe("a: ready\nb: ready\n");
});

test("after `end`, no line is rewritten", () => {
  const { progress, text } = record(true);
  progress.step("a", "starting");
  const before = text();
  progress.end();
  progress.step("a", "reading weights");
  progress.fact("a", "crashed");
  expect(text()).toBe(`${before}a: crashed\n`);
});
