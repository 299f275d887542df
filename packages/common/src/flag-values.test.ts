import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import { afterAll, expect, test } from "vitest";
import { existingPath, listOf, wholeNumber, writableFile, writableFolder } from "./flag-values.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-flags-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = `
  import { ReportCommand, listOf, wholeNumber } from ${JSON.stringify(join(import.meta.dirname, "flag-values.ts"))};
  new ReportCommand("tool")
    .option("--only <names>", "", listOf(["a", "b"]))
    .option("--rounds <count>", "", wholeNumber)
    .option("--files <files...>", "")
    .option("--short", "")
    .parse();
  process.exitCode = 1;
`;

test.each([
  ["--help", 0],
  ["", 1],
  ["--only b,a --rounds 3 --files x y --files z", 1],
  ["--only wrong", 2],
  ["--only", 2],
  ["--only=", 2],
  ["--only a --only b", 2],
  ["--short --short", 2],
  ["--short=1", 2],
  ["--rounds 1e3", 2],
  ["--unknown", 2],
  ["excess", 2],
])("a report that finds something, with the flags %j, ends with %i", (flags, code) => {
  const args = ["--input-type=module", "-e", program, "--", ...flags.split(" ").filter((word) => word !== "")];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toMatch(code === 2 ? /^error: [^]+\(--help lists what there is\)\n$/ : /^$/);
  expect(status).toBe(code);
});

test.each<[string, (text: string) => unknown, string]>([
  ["a fraction", wholeNumber, "1.5"],
  ["a number in another form", wholeNumber, "0x10"],
  ["zero", wholeNumber, "0"],
  ["nothing", wholeNumber, ""],
  ["an unknown name", listOf(["a"]), "a,,"],
  ["a path that does not exist", existingPath, join(folder, "none")],
  ["a file in a folder that does not exist", writableFile, join(folder, "none/file")],
  ["a folder below a file", writableFolder, join(writableFile(join(folder, "file")), "below")],
])("%s is refused", (_title, read, text) => {
  expect(() => read(text)).toThrow(InvalidArgumentError);
});

test("names are read in the order of the known ones, with blanks and repetitions", () => {
  expect(listOf(["a", "b", "c"])("c, a,c")).toEqual(["a", "c"]);
});
