import { execFileSync, spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../root.ts";
import { stepsChanged, stepsNamed, stepsOf, SelectionError } from "../select.ts";
import { sharedInputs } from "../step.ts";
import { probe } from "./probe-step.ts";

const table = ["unit", "fuzz", "fuzz:schema"].map((name) => probe("", { name }));
const namesOf = (steps: readonly { readonly name: string }[]): string[] => steps.map(({ name }) => name);

test("a name selects its step, and those whose names go on after a colon", () => {
  expect(namesOf(stepsNamed(["unit"], table))).toEqual(["unit"]);
  expect(namesOf(stepsNamed(["fuzz"], table))).toEqual(["fuzz", "fuzz:schema"]);
});

test("a wrong name is answered with the right one", () => {
  expect(() => stepsNamed(["unti"], table)).toThrow(
    new SelectionError('there is no step "unti"; did you mean "unit"?'),
  );
  expect(() => stepsNamed(["elephant"], table)).toThrow("--list shows them all");
});

test("a step of the other runner is left out with a reason", () => {
  const { chosen, left } = stepsOf("host", [probe("", { name: "scan", runners: ["dagger"] }), ...table]);
  expect(namesOf(chosen)).toEqual(namesOf(table));
  expect(left).toMatchObject([
    { step: { name: "scan" }, reason: "only the Dagger pipeline runs it: pnpm run pipeline" },
  ]);
});

test("only steps whose inputs changed are selected, new files included", () => {
  const file = join(root, "docs/probe-of-a-test.md");
  const docs = probe("", { name: "docs", inputs: ["docs"] });
  const bench = probe("", { name: "bench", inputs: ["docs/probe-of"] });
  writeFileSync(file, "");
  try {
    const { chosen, left } = stepsChanged("HEAD", { chosen: [docs, bench], left: [] });
    expect(namesOf(chosen)).toContain("docs");
    // Where a shared input has changed in this tree, every step is selected.
    const changed = execFileSync("git", ["status", "--porcelain", ...sharedInputs], {
      cwd: root,
      encoding: "utf8",
    });
    expect(left).toHaveLength(changed === "" ? 1 : left.length);
  } finally {
    rmSync(file);
  }
});

test("a commit that git does not know is reported", () => {
  expect(() => stepsChanged("no-such-branch", { chosen: table, left: [] })).toThrow(
    'git knows no commit "no-such-branch"',
  );
});

test.each([
  [["--onyl", "types"], "(Did you mean --only?)"],
  [["--only", "typs"], 'there is no step "typs"; did you mean "types"?'],
  [["--since", "no-such-branch"], 'git knows no commit "no-such-branch"'],
])("%j ends with 2 and says what to write", (args, hint) => {
  const { status, stderr } = spawnSync(process.execPath, ["ci/run.ts", ...args], { cwd: root, encoding: "utf8" });
  expect(stderr).toContain(hint);
  expect(status).toBe(2);
});
