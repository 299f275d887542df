import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import { runOnHost } from "../host/run-step.ts";
import { logFileOf } from "../log.ts";
import type { Outcome } from "../outcome.ts";
import { showProgress } from "../progress.ts";
import { root } from "../root.ts";
import { schedule } from "../schedule.ts";
import { stepsNamed, stepsOf } from "../select.ts";
import { isInputOf } from "../step.ts";
import type { Step } from "../step.ts";
import { probe } from "./probe-step.ts";

const never = new AbortController().signal;
const run = (code: string, others: Partial<Step> = {}, stop = never): Promise<Outcome> =>
  runOnHost(probe(code, others), stop);
const reasonsOf = ({ skipped }: Outcome): string[] => skipped.map(({ reason }) => reason);
const log = (): string => readFileSync(logFileOf("host", probe("")), "utf8");

afterEach(() => {
  vi.unstubAllEnvs();
  for (const name of ["first.log", "probe.log", "probe.log.json", "probe.txt"])
    rmSync(join(root, ".parley/ci", name), { force: true });
});

test("a command that ends with 0 has passed, and its log has all that it printed", async () => {
  expect(await run('console.log("out"); console.error("err")')).toEqual({ passed: 1, failed: 0, skipped: [] });
  expect(log()).toBe("out\nerr\n");
});

test("a command that fails shows how it ended", async () => {
  const outcome = await run('console.log("the reason"); process.exit(3)');
  expect(outcome).toEqual({ passed: 0, failed: 1, skipped: [], trouble: "the reason" });
});

test("a command that cannot run here is skipped with the reason that it printed last", async () => {
  expect(await run('console.log("trying"); console.log("there is no torch"); process.exit(77)')).toMatchObject({
    passed: 0,
    failed: 0,
    skipped: [{ count: 1, reason: "there is no torch" }],
  });
});

test("parts that a command left out are skipped, and it has passed", async () => {
  const outcome = await run('console.log("SKIPPED the tests of a\\nSKIPPED those of b")');
  expect(outcome.passed).toBe(1);
  expect(reasonsOf(outcome)).toEqual(["the tests of a", "those of b"]);
});

test("a program that does not exist fails its step", async () => {
  expect(await run("", { command: ["no-such-program"] })).toMatchObject({ failed: 1 });
});

test("a step whose image has no stand-in on this machine is skipped by the program's name", async () => {
  vi.stubEnv("PATH", "/nowhere");
  expect(reasonsOf(await run("", { image: "trivy" }))).toEqual(["it needs trivy, which is not on this machine"]);
});

test("a step that runs past its limit fails, and what it started ends with it", async () => {
  const file = join(root, ".parley/ci/probe.txt");
  const child = `require("fs").writeFileSync(${JSON.stringify(file)}, String(process.pid)); setInterval(() => {}, 1000)`;
  const code = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(child)}]); setInterval(() => {}, 1000)`;
  const outcome = await run(code, { timeLimitSeconds: 5 });
  expect(outcome.trouble).toContain("It ran past its limit of 5 s.");
  const pid = Number(readFileSync(file, "utf8"));
  expect(pid).toBeGreaterThan(0);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

/** Checks that a process runs. A dead process may stay listed until its parent reads the exit code. */
function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

test("a run that is stopped ends its steps, and starts no other", async () => {
  const stop = new AbortController();
  const running = run('console.log("up"); setInterval(() => {}, 1000)', {}, stop.signal);
  await vi.waitUntil(() => existsSync(logFileOf("host", probe(""))) && log() === "up\n", { timeout: 20_000 });
  stop.abort(new Error("the run was stopped"));
  expect((await running).trouble).toContain("the run was stopped");
  expect(reasonsOf(await run("", {}, stop.signal))).toEqual(["the run was stopped"]);
});

test("a step sees the secrets that it names, and no other", async () => {
  vi.stubEnv("PARLEY_API_KEY", "key-of-this-test");
  const print = 'console.log(process.env.PARLEY_API_KEY ?? "nothing")';
  await run(print);
  expect(log()).toBe("nothing\n");
  await run(print, { secrets: ["PARLEY_API_KEY"] });
  expect(log()).toBe("key-of-this-test\n");
});

test("outputs of an earlier run are gone before a step starts", async () => {
  const output = ".parley/ci/probe.txt";
  mkdirSync(join(root, ".parley/ci"), { recursive: true });
  writeFileSync(join(root, output), "old");
  await run(`console.log(require("fs").existsSync(${JSON.stringify(output)}))`, { outputs: [output] });
  expect(log()).toBe("false\n");
});

test("every column of a step has a use on a host", async () => {
  const used = new Set<string | symbol>();
  const step = new Proxy(probe("", { services: [], archives: [] }), {
    get: (row, column, receiver) => {
      used.add(column);
      return Reflect.get(row, column, receiver) as unknown;
    },
  });
  const { chosen } = stepsOf("host", stepsNamed(["probe", "first"], [probe("", { name: "first" }), step]));
  expect(isInputOf(step, "ci/steps.ts")).toBe(true);
  using progress = showProgress(new PassThrough(), 10);
  const finished = await schedule(chosen, 1, (one) => runOnHost(one, never), progress);
  expect([...finished.values()]).toMatchObject([{ passed: 1 }, { passed: 1 }]);
  expect(Object.keys(probe("")).filter((column) => !used.has(column))).toEqual([]);
});

test("a suite is counted by its tests, and one that finds none has failed", async () => {
  const suite = { counts: "vitest", timeLimitSeconds: 60 } as const;
  const one = ["vitest", "run", "ci/test/schedule.test.ts"] as const;
  expect(await run("", { ...suite, command: one })).toMatchObject({ passed: 6, failed: 0 });
  expect(await run("", { ...suite, command: [...one, "-t", "no such test"] })).toMatchObject({ passed: 0, failed: 0 });
  expect(await run("", { ...suite, command: ["vitest", "run", "no-such-file"] })).toMatchObject({ failed: 1 });
});
