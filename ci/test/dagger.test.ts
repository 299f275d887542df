import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { argumentsOf } from "../containers/run-step.ts";
import { imageOf, pinOf } from "../images.ts";
import type { ImageName } from "../images.ts";
import { logFileOf } from "../log.ts";
import { root } from "../root.ts";
import { stepsOf } from "../select.ts";
import { serviceOf } from "../services.ts";
import { archiveOf, sharedInputs } from "../step.ts";
import type { Step } from "../step.ts";
import { steps } from "../steps.ts";
import { Chain, startRecordingEngine } from "./recording-engine.ts";
import type { RecordingEngine } from "./recording-engine.ts";

/** A dry run: the pipeline talks to an engine that records all queries, and these are compared with the table. */

const run = promisify(execFile);
const report = JSON.stringify({ numPassedTests: 3, numFailedTests: 0, testResults: [] });
const secret = "value-of-the-secret-Zq81";

const { chosen } = stepsOf("dagger", steps);

let engine: RecordingEngine;
let output: string;
beforeAll(async () => {
  for (const step of chosen) rmSync(logFileOf("dagger", step), { force: true });
  engine = await startRecordingEngine({
    exitCode: 0,
    stdout: "said by the step\n",
    stderr: "",
    contents: report,
    publish: "host/parley@sha256:1",
  });
  const env = { ...process.env, ...engine.environment, PARLEY_API_KEY: secret };
  output = (await run(process.execPath, ["ci/dagger.ts", "--publish", "host/parley:1"], { cwd: root, env })).stdout;
});
afterAll(() => engine[Symbol.asyncDispose]());

/** Finds the query for a step's exit code. */
const runOf = (step: Step): Chain => {
  const found = engine.asked.filter(
    ({ calls }) =>
      calls.at(-1)?.name === "exitCode" &&
      JSON.stringify(calls.at(-2)?.args["args"]) === JSON.stringify(argumentsOf(step)),
  );
  expect(found).toHaveLength(1);
  return found[0] ?? new Chain([]);
};

/** Expects an image to come from a pin, or from a Dockerfile on a pin. */
function expectImage(chain: Chain, name: ImageName): void {
  const { pin, dockerfile, sharedMemoryBytes: size } = imageOf(name);
  const [built] = chain.all("dockerBuild");
  expect(chain.all("from").map(({ address }) => address)).toEqual(dockerfile ? [] : [pinOf(pin)]);
  expect(chain.all("withMountedTemp")).toEqual(size === undefined ? [] : [{ path: "/dev/shm", size }]);
  expect(built).toEqual(
    dockerfile && { dockerfile: dockerfile.file, buildArgs: [{ name: "BASE", value: pinOf(pin) }] },
  );
}

const pairsOf = (chain: Chain, name: string): Record<string, unknown> =>
  Object.fromEntries(chain.all(name).map((args) => [String(args["name"]), args["value"] ?? args["secret"]]));

const secretsOf = (chain: Chain): string[] =>
  chain.all("withSecretVariable").map(({ name, secret: from }) => {
    expect(from).toEqual(new Chain([{ name: "secret", args: { uri: `env://${String(name)}` } }]));
    return String(name);
  });

/** Lists the folders of this machine that a container gets. */
const includesOf = (chain: Chain): unknown[] =>
  chain.all("withDirectory").flatMap(({ source, directory }) => {
    const given = source ?? directory;
    return given instanceof Chain && given.all("host").length > 0 ? [given.all("directory")[0]?.["include"]] : [];
  });

describe.each(chosen)("the step $name", (step) => {
  test("runs its command, under its limit, in its image", () => {
    const chain = runOf(step);
    expectImage(chain, step.image);
    expect(argumentsOf(step).slice(0, 4)).toEqual(["timeout", "-k", "10", String(step.timeLimitSeconds)]);
    expect(argumentsOf(step).slice(4, 4 + step.command.length)).toEqual(step.command);
  });

  test("sees its inputs, and where it has packages, the lock file comes first", () => {
    const [first, ...others] = imageOf(step.image).hasWorkspace
      ? includesOf(runOf(step))
      : [["pnpm-lock.yaml"], ...includesOf(runOf(step))];
    expect(first).toContain("pnpm-lock.yaml");
    expect(first).not.toContain("ci");
    const wanted = [...sharedInputs, ...step.inputs].flatMap((path) => [path, `${path}/**`]);
    expect(others).toEqual([step.inputs.includes(".") ? undefined : wanted]);
  });

  test("has its variables, its secrets by name, and the caches", () => {
    const chain = runOf(step);
    expect(pairsOf(chain, "withEnvVariable")).toMatchObject(step.environment);
    expect(secretsOf(chain)).toEqual(step.secrets);
    expect(chain.all("withMountedCache").length > 0).toBe(imageOf(step.image).hasWorkspace);
  });

  test("finds its services, each in its own image and with its own secrets", () => {
    const bound = runOf(step).all("withServiceBinding");
    expect(bound.map(({ alias }) => alias)).toEqual(step.services);
    for (const [at, name] of step.services.entries()) {
      const { image, ports, secrets, command } = serviceOf(name);
      const service = bound[at]?.["service"];
      if (!(service instanceof Chain)) throw new Error(`${name} is not a service`);
      expectImage(service, image);
      expect(secretsOf(service)).toEqual(secrets);
      expect(service.all("withExposedPort").map(({ port }) => port)).toEqual(Object.values(ports));
      expect(service.all("asService")).toEqual([command ? { args: command } : { useEntrypoint: true }]);
      const urls = Object.entries(ports).map(([variable, port]) => [variable, `http://${name}:${port}`]);
      expect(pairsOf(runOf(step), "withEnvVariable")).toMatchObject(Object.fromEntries(urls));
    }
  });

  test("gets the outputs of earlier steps, and the archives of images", () => {
    const left = steps.filter(({ name }) => step.needs.includes(name)).flatMap(({ outputs }) => outputs);
    const files = runOf(step)
      .all("withFile")
      .map(({ path }) => path);
    expect(files).toEqual([...step.archives.map(archiveOf), ...left]);
  });
});

test.each(chosen)("the step $name finds the folders of its outputs, and leaves a log", (step) => {
  const paths = runOf(step)
    .all("withDirectory")
    .map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(step.outputs.map(dirname)));
  expect(readFileSync(logFileOf("dagger", step), "utf8")).toBe("said by the step\n");
});

test("nothing runs but the table's steps, and the image is published last", () => {
  expect(engine.asked.filter(({ calls }) => calls.at(-1)?.name === "exitCode")).toHaveLength(chosen.length);
  const last = engine.asked.at(-1) ?? new Chain([]);
  expect(last.calls.at(-1)).toEqual({ name: "publish", args: { address: "host/parley:1" } });
  expectImage(last, "server");
});

test("every base is pinned by its digest", () => {
  for (const chain of engine.asked) {
    for (const { address } of chain.all("from")) expect(address).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  }
});

test("no secret is in any query", () => {
  expect(engine.texts.filter((text) => text.includes(secret))).toEqual([]);
  expect(output).not.toContain(secret);
});

test("the summary counts what the containers reported", () => {
  const suites = chosen.filter(({ counts }) => counts === "vitest").length;
  const skipped = steps.length - chosen.length;
  expect(output.trimEnd().split("\n").at(-1)).toBe(
    `${chosen.length - suites + 3 * suites} passed, 0 failed, ${skipped} skipped`,
  );
  expect(output).toContain("Published host/parley@sha256:1");
});
