import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { parseAction } from "@actions/workflow-parser/actions/action-parser";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";

/** The jobs that others put into their CI: those that `init` writes, the GitHub Action and the GitLab component. */

const run = promisify(execFile);
const packageDir = fileURLToPath(new URL("..", import.meta.url));
const main = join(packageDir, "src/cli/main.ts");
const gitlabLocal = join(packageDir, "node_modules/.bin/gitlab-ci-local");

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "parley-ci-jobs-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number;
  readonly text: string;
}

/** Runs a program in the folder. @returns its exit code and both outputs */
const tryTo = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ended> =>
  run(program, args, { cwd: folder, env }).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, text: stdout + stderr }),
  );

const init = (...args: readonly string[]): Promise<Ended> => tryTo(process.execPath, [main, "init", ...args]);
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

/** Reads the job list as GitLab would, after a check against GitLab's schema. */
async function listGitlab(text: string): Promise<Ended> {
  writeFileSync(join(folder, ".gitlab-ci.yml"), text);
  await run("git", ["init", "--quiet"], { cwd: folder });
  await run("git", ["remote", "add", "origin", "https://example.test/group/project.git"], { cwd: folder }).catch(
    () => undefined,
  );
  await run("git", ["add", "--all"], { cwd: folder });
  return tryTo(gitlabLocal, ["--list"]);
}

describe("init", () => {
  test("writes a workflow that GitHub's parser takes", async () => {
    expect(await init("--ci", "github")).toMatchObject({ code: 0 });
    const content = read(".github/workflows/conformance.yml");
    const faultsOf = (text: string): readonly string[] =>
      parseWorkflow({ name: "conformance.yml", content: text }, new NoOperationTraceWriter())
        .context.errors.getErrors()
        .map(({ message }) => message);
    expect(faultsOf(content)).toEqual([]);
    expect(faultsOf(content.replace("runs-on", "runs-in"))).not.toEqual([]);
    expect(content).toContain("BASE_URL: ${{ vars.BASE_URL }}");
  });

  test("writes a job that GitLab's schema takes", async () => {
    expect(await init("--ci", "gitlab")).toMatchObject({ code: 0 });
    const text = read("conformance.gitlab-ci.yml");
    expect(await listGitlab(text)).toMatchObject({ code: 0, text: expect.stringMatching(/^conformance\b/m) });
    const broken = await listGitlab(text.replace(/ {2}artifacts:[\s\S]*/, "  artifacts: conformance-report\n"));
    expect(broken).toMatchObject({
      code: 1,
      text: expect.stringContaining("'artifacts' property type must be object"),
    });
  });

  test("writes nothing where one of its files is there", async () => {
    writeFileSync(join(folder, "conformance.gitlab-ci.yml"), "mine");
    expect(await init()).toEqual({
      code: 2,
      text: expect.stringContaining("conformance.gitlab-ci.yml: there already"),
    });
    expect(read("conformance.gitlab-ci.yml")).toBe("mine");
    expect(() => read("conformance.json")).toThrow("ENOENT");
  });

  test("names the kinds of CI that it knows", async () => {
    expect(await init("--ci", "jenkins")).toMatchObject({ code: 2, text: expect.stringContaining("github, gitlab") });
  });
});

describe("the GitHub Action", () => {
  const content = readFileSync(join(packageDir, "action.yml"), "utf8");
  const { runs } = parse(content) as { readonly runs: { readonly steps: readonly [{ readonly run: string }] } }; // checked by the first test

  test("is one that GitHub's parser takes", () => {
    const faultsOf = (text: string): readonly string[] =>
      parseAction({ name: "action.yml", content: text }, new NoOperationTraceWriter())
        .context.errors.getErrors()
        .map(({ message }) => message);
    expect(faultsOf(content)).toEqual([]);
    expect(faultsOf(content.replace("using: composite", "using: nothing"))).not.toEqual([]);
  });

  test("passes each input on as one argument, shows the report and ends with the code of the judge", async () => {
    // A stub of npx: it notes its arguments, and ends as a judge that found a failure.
    const stub =
      '#!/bin/bash\nprintf "[%s]\\n" "$@" > arguments\nmkdir -p "my report"\necho "# Report" > "my report/report.md"\nexit 1\n';
    writeFileSync(join(folder, "npx"), stub, { mode: 0o755 });
    const summary = join(folder, "summary");
    const output = join(folder, "output");
    const given = {
      BASE_URL: "https://host/v1",
      PROFILE: "openai",
      MODEL: "a model; rm -rf .",
      BASELINE: "",
      REPORT: "my report",
      ARGUMENTS: "--strict  --exhaustive",
      PACKAGE: "@parley/conformance@0.1.0",
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
    };
    const path = `${folder}${delimiter}${process.env["PATH"]}`;
    const bash = ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", runs.steps[0].run]; // as GitHub's runner starts it
    expect(await tryTo("bash", bash, { ...given, PATH: path })).toMatchObject({ code: 1 });
    const expected = `--yes @parley/conformance@0.1.0 run --base-url https://host/v1 --api-key-env API_KEY --profile openai --report`;
    expect(read("arguments").trim().slice(1, -1).split("]\n[")).toEqual([
      ...expected.split(" "),
      "my report",
      "--model",
      "a model; rm -rf .",
      "--strict",
      "--exhaustive",
    ]);
    expect(readFileSync(summary, "utf8")).toBe("# Report\n");
    expect(readFileSync(output, "utf8")).toBe("exit-code=1\nreport=my report\n");
  });
});

test("the GitLab component is one that GitLab's schema takes, and its inputs reach the command", async () => {
  cpSync(join(packageDir, "gitlab/templates"), join(folder, "templates"), { recursive: true });
  const including = `include:
  - local: templates/conformance.yml
    inputs:
      base-url: https://host/v1
      arguments: --strict
`;
  expect(await listGitlab(including)).toMatchObject({ code: 0, text: expect.stringMatching(/^conformance\b/m) });
  const { text } = await tryTo(gitlabLocal, ["--preview"]);
  expect(text).toContain(
    'npx --yes "@parley/conformance@0.1.0" run --base-url "https://host/v1" --api-key-env "API_KEY" --profile "openai" --report "conformance-report" --strict',
  );
});

test("action and component run the version of this package", () => {
  const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as {
    readonly version: string;
  }; // npm's format
  for (const file of ["action.yml", "gitlab/templates/conformance.yml"])
    expect(readFileSync(join(packageDir, file), "utf8")).toContain(`default: "@parley/conformance@${version}"`);
});
