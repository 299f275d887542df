import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { files } from "../../repository-tests/tree.ts";
import { repeatedSuites, suites } from "../../vitest.config.ts";
import { secretNames } from "../command.ts";
import { root } from "../root.ts";
import { isInputOf, sharedInputs } from "../step.ts";
import { steps } from "../steps.ts";

const names = steps.map(({ name }) => name);

test("no two steps have one name", () => {
  expect(new Set(names).size).toBe(names.length);
});

test.each(steps)("$name needs only steps above it", ({ name, needs }) => {
  const above = new Set(names.slice(0, names.indexOf(name)));
  expect(needs.filter((need) => !above.has(need))).toEqual([]);
});

test.each(steps)("the inputs of $name exist", ({ inputs }) => {
  expect(inputs.filter((input) => !existsSync(join(root, input)))).toEqual([]);
});

test("an output is written by one step, and read by none that does not need it", () => {
  const outputs = steps.flatMap((step) => step.outputs.map((output) => ({ output, from: step.name })));
  expect(new Set(outputs.map(({ output }) => output)).size).toBe(outputs.length);
  const strays = steps.flatMap(({ name, needs, command }) =>
    outputs.filter(({ output, from }) => command.includes(output) && from !== name && !needs.includes(from)),
  );
  expect(strays).toEqual([]);
});

test("every secret is needed by a step", () => {
  expect(secretNames.filter((name) => !steps.some(({ secrets }) => secrets.includes(name)))).toEqual([]);
});

describe("every file", () => {
  /** Recognises files with code, or with settings for it. */
  const isCode = (file: string): boolean => /\.(ts|mjs|py|sh|toml)$|Dockerfile$|^\.ci\/run$/.test(file);
  /** Steps with particular inputs. A step with all files as input, such as the formatter, does not prove that a file is tested. */
  const telling = steps.filter(({ inputs }) => !inputs.includes("."));

  test("of code can change the outcome of a step", () => {
    const stray = files.filter((file) => isCode(file) && !telling.some((step) => isInputOf(step, file)));
    expect(stray).toEqual([]);
  });

  test("with tests belongs to one suite, and every suite is a step", () => {
    const suiteOf = (file: string): string | undefined =>
      Object.entries(suites)
        .flatMap(([name, paths]) => paths.map((path) => ({ name, path })))
        .filter(({ path }) => file === path || file.startsWith(`${path}/`))
        .toSorted((a, b) => b.path.length - a.path.length)[0]?.name;
    const tests = files.filter((file) => file.endsWith(".test.ts"));
    expect(tests.filter((file) => suiteOf(file) === undefined)).toEqual([]);
    expect(Object.keys(suites).filter((name) => !tests.some((file) => suiteOf(file) === name))).toEqual([]);
    const projects = new Set(
      steps.flatMap(({ command }) => command.filter((_, at) => command[at - 1] === "--project")),
    );
    expect([...projects].toSorted()).toEqual([...Object.keys(suites), ...Object.keys(repeatedSuites)].toSorted());
  });

  test("that every step shares exists", () => {
    expect(sharedInputs.filter((input) => !existsSync(join(root, input)))).toEqual([]);
  });
});
