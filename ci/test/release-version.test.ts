import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Change } from "../contract-diff/change.ts";
import type { ContractChanges } from "../contract-diff/find-changes.ts";
import { faultsOfNotes, sectionOf, withVersion } from "../release/changelog.ts";
import type { ChangeNote } from "../release/changelog.ts";
import { writeVersion } from "../release/write-version.ts";
import { root } from "../root.ts";

const contractWith = (...changes: readonly Change[]): ContractChanges => ({ changes, before: "1.0.0", now: "1.1.0" });
const added: Change = { grade: "additive", place: "GET /v1/models, answer 200: data[].id", what: "is added" };
const reworded: Change = { grade: "editorial", place: "GET /v1/models", what: "summary" };
const note = (type: "major" | "minor" | "patch", summary: string, name = "@parley/server"): ChangeNote => ({
  summary,
  releases: [{ name, type }],
});

describe("the section of a version", () => {
  test("has the notes by their step, and the changes of the contract", () => {
    const notes = [
      note("patch", "A fault is gone."),
      note("minor", "There is more.\n\nMuch more.", "@parley/client"),
      note("major", "Rename it."),
    ];
    expect(sectionOf(notes, contractWith(added, reworded, reworded))).toBe(`### Breaking

- Rename it.

### New

- \`@parley/client\`: There is more.

  Much more.

### Repaired

- A fault is gone.

### The contract, 1.1.0 (before: 1.0.0)

- additive: GET /v1/models, answer 200: data\\[\\].id: is added
- editorial: 2 changes of texts and examples
`);
  });

  test("names the contract only if it has changed", () => {
    expect(sectionOf([note("patch", "A fault is gone.")], contractWith())).toBe("### Repaired\n\n- A fault is gone.\n");
  });

  test.each([
    ["the first one", "# Changelog\n", "# Changelog\n\n## 1.0.0 (2026-12-01)\n\nnew\n"],
    [
      "above the older ones",
      "# Changelog\n\n## 0.9.0 (2026-01-01)\n\nold\n",
      "# Changelog\n\n## 1.0.0 (2026-12-01)\n\nnew\n\n## 0.9.0 (2026-01-01)\n\nold\n",
    ],
    [
      "in place of an unreleased one, whose text stays",
      "# Changelog\n\n## 0.9.1 (unreleased)\n\nown\n\n## 0.9.0 (2026-01-01)\n\nold\n",
      "# Changelog\n\n## 1.0.0 (2026-12-01)\n\nown\n\nnew\n\n## 0.9.0 (2026-01-01)\n\nold\n",
    ],
  ])("stands at the top of the changelog: %s", (_title, before, after) => {
    expect(withVersion(before, "1.0.0", "2026-12-01", "new\n")).toBe(after);
  });
});

describe("there is no version", () => {
  const released = "# Changelog\n\n## 1.0.0 (2026-12-01)\n";
  test.each<[string, readonly ChangeNote[], ContractChanges, string]>([
    ["without a note", [], contractWith(), "There is nothing to release"],
    [
      "if the notes ask for a smaller step than the contract",
      [note("patch", "A")],
      contractWith(added),
      "The contract needs a minor step",
    ],
  ])("%s", (_title, notes, contract, sentence) => {
    const faults = faultsOfNotes(notes, contract, released);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(sentence);
    expect(faultsOfNotes([note("minor", "A")], contract, released)).toEqual([]);
  });
});

describe("the next version of a workspace", () => {
  let workspace = "";
  const write = (file: string, text: string): void => writeFileSync(join(workspace, file), text);
  const read = (file: string): string => readFileSync(join(workspace, file), "utf8");
  beforeEach(() => {
    workspace = mkdtempSync(join(tmpdir(), "parley-version-"));
    for (const folder of [".changeset", "packages/client", "packages/server", "deploy/chart"])
      mkdirSync(join(workspace, folder), { recursive: true });
    write(".changeset/config.json", readFileSync(join(root, ".changeset/config.json"), "utf8"));
    write("pnpm-workspace.yaml", "packages: [packages/*]\n");
    write("package.json", JSON.stringify({ name: "@parley/workspace", version: "1.0.0", private: true }, undefined, 2));
    for (const name of ["client", "server"])
      write(
        `packages/${name}/package.json`,
        JSON.stringify({ name: `@parley/${name}`, version: "1.0.0", private: name === "server" }),
      );
    write("deploy/chart/Chart.yaml", "apiVersion: v2\nversion: 1.0.0\nappVersion: 1.0.0\n");
    write("CHANGELOG.md", "# Changelog\n\n## 1.0.0 (2026-12-01)\n\n- Old.\n");
  });
  afterEach(() => rmSync(workspace, { recursive: true, force: true }));

  const versions = (): string[] =>
    ["", "packages/client/", "packages/server/"].map(
      (folder) => /"version": ?"([^"]*)"/.exec(read(`${folder}package.json`))?.[1] ?? "",
    );

  test("is one for all packages, and has a section of the changelog", async () => {
    write(".changeset/own.md", '---\n"@parley/client": minor\n---\n\nThere is more.\n');
    expect(await writeVersion(workspace, "2026-12-24", contractWith(added))).toBe("1.1.0");
    expect(versions()).toEqual(["1.1.0", "1.1.0", "1.1.0"]);
    expect(read("deploy/chart/Chart.yaml")).toBe("apiVersion: v2\nversion: 1.1.0\nappVersion: 1.1.0\n");
    expect(read("CHANGELOG.md")).toMatch(
      /^# Changelog\n\n## 1\.1\.0 \(2026-12-24\)\n\n### New\n\n- `@parley\/client`: There is more\.\n\n### The contract, .*## 1\.0\.0/s,
    );
    // The notes are used up.
    await expect(writeVersion(workspace, "2026-12-25", contractWith())).rejects.toThrow("nothing to release");
  });

  test("is the one of the section that is written by hand, if there are no notes", async () => {
    write("CHANGELOG.md", "# Changelog\n\n## 1.0.0 (unreleased)\n\n- By hand.\n");
    expect(await writeVersion(workspace, "2026-12-24", contractWith())).toBe("1.0.0");
    expect(read("CHANGELOG.md")).toBe("# Changelog\n\n## 1.0.0 (2026-12-24)\n\n- By hand.\n");
    expect(versions()).toEqual(["1.0.0", "1.0.0", "1.0.0"]);
  });

  test("needs a date", async () => {
    await expect(writeVersion(workspace, "tomorrow", contractWith())).rejects.toThrow('"tomorrow" is not a date');
  });
});
