import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { EngineError, defaultTimings } from "../src/index.ts";
import { startScriptedEngine } from "../src/scripted/scripted-engine.ts";
import type { ChildEngine, Engine, Script } from "../src/index.ts";
import { ask, askOne, countTokens, neutral, requestFor } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { startScripted } from "./start-engines.ts";
import { isAlive, until } from "../testing/until.ts";

const scenarios: Script["scenarios"] = {
  endless: [{ role: true }, { repeat: 1_000_000, steps: [{ text: "and so on " }, { wait_ms: 5 }] }],
  die: [{ role: true }, { text: "a" }, { wait_ms: 20 }, { die: true }],
  freeze: [{ role: true }, { text: "a" }, { wait_ms: 20 }, { freeze: true }],
  spin: [{ role: true }, { text: "a" }, { spin: true }],
  stall: [{ role: true }, { text: "a" }, { stall: true }],
};
const quick = { restartFirstMs: 50, watchEveryMs: 50, unansweredMs: 1500, stallMs: 1500 };
const play = (name: string): Ask => ({ say: `script:${name}` });
const kindOf = (error: unknown): unknown => (error instanceof EngineError ? error.kind : error);

async function isAnswering(engine: Engine): Promise<boolean> {
  return (await askOne(engine, { say: "Hi" }).catch(() => undefined))?.text === "You said: Hi";
}

describe("an engine process that fails while it streams", () => {
  test.each([
    ["dies", "die", "crashed"],
    ["stands still", "freeze", "stalled"],
    ["computes without a token", "spin", "stalled"],
  ])("%s: every stream fails, and the engine is started again", async (_title, name, kind) => {
    await using started = startScripted(scenarios, undefined, quick);
    const { engine } = started;
    await engine.whenReady();
    const { pid } = engine;
    const streams = [name, "endless", "stall"].map((scenario) => ask(engine, play(scenario)).catch(kindOf));
    expect(await Promise.all(streams)).toEqual([kind, kind, kind]);
    await until("it is started again", () => engine.gauges().restarts === 1);
    await engine.whenReady();
    expect(await isAnswering(engine)).toBe(true);
    expect(engine.pid).not.toBe(pid);
    expect(engine.gauges()).toEqual({ running: 0, restarts: 1, aborted: 3, ejected: 0 });
  });

  test("while it is away new work is refused at once", async () => {
    await using started = startScripted(scenarios, undefined, { ...quick, restartFirstMs: 60_000 });
    const { engine } = started;
    await engine.whenReady();
    await ask(engine, play("die")).catch(() => undefined);
    expect(engine.state).toBe("crashed");
    await until("the reason is known", () => engine.stateReason.includes("SIGKILL"));
    expect(await ask(engine, {}).catch(kindOf)).toBe("unavailable");
    expect(await countTokens(engine, requestFor({}), AbortSignal.timeout(10_000)).catch(kindOf)).toBe("unavailable");
  });

  test("a stall is the caller's to end: the process stays", async () => {
    await using started = startScripted(scenarios, undefined, { ...quick, stallMs: 100 });
    const { engine } = started;
    await engine.whenReady();
    const { pid } = engine;
    await expect(ask(engine, play("stall"), AbortSignal.timeout(800))).rejects.toThrow("timeout");
    expect([engine.pid, engine.state]).toEqual([pid, "ready"]);
  });
});

describe("closing", () => {
  test("lets streams finish within the grace, and takes no new ones", async () => {
    const soon: Script["scenarios"] = {
      soon: [{ role: true }, { wait_ms: 300 }, { text: "done" }, { finish: "stop" }],
    };
    await using started = startScripted(soon);
    const { engine } = started;
    await engine.whenReady();
    const stream = askOne(engine, play("soon"));
    await until("it runs", async () => (await engine.status(AbortSignal.timeout(10_000))).running === 1);
    const closing = engine.close(10_000);
    expect(await ask(engine, {}).catch(kindOf)).toBe("unavailable");
    expect(await stream).toMatchObject({ text: "done", finish: "stop" });
    await closing;
    expect([engine.state, engine.pid]).toEqual(["stopped", undefined]);
  });

  test.each([
    ["without grace", 0],
    ["after its grace", 200],
  ])("cuts what still streams, %s", async (_title, graceMs) => {
    await using started = startScripted(scenarios);
    const { engine, runFolder } = started;
    await engine.whenReady();
    const stream = ask(engine, play("endless")).catch(kindOf);
    await until("it runs", async () => (await engine.status(AbortSignal.timeout(10_000))).running === 1);
    await Promise.all([engine.close(graceMs), engine.close(graceMs)]);
    expect(await stream).toBe("crashed");
    expect(readdirSync(runFolder).filter((file) => file.endsWith(".sock"))).toEqual([]);
  });
});

describe("names", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const begin = (name: string, runFolder: string): ChildEngine =>
    startScriptedEngine({
      name,
      runFolder,
      timings: defaultTimings,
      report: () => undefined,
      scriptFile: undefined,
      sampling: neutral,
    });

  test("a run folder whose path is too long is reported before anything starts", () => {
    expect(() => begin("vendor/model", join(folder, "x".repeat(100)))).toThrow(
      "a unix socket's path may have 107 bytes",
    );
  });

  test("engines whose names end alike do not meet", async () => {
    const engines = ["one/with-a-very-long-model-name", "two/with-a-very-long-model-name"].map((name) =>
      begin(name, folder),
    );
    await Promise.all(engines.map((engine) => engine.whenReady()));
    expect(readdirSync(folder)).toHaveLength(2);
    await Promise.all(engines.map((engine) => engine.close(0)));
  });
});

interface Owner {
  readonly process: ChildProcess;
  readonly enginePid: number;
  readonly runFolder: string;
}

/** Starts a program that owns an engine, and waits until the engine is ready. */
async function own(driver: "embedded" | "scripted", then: "stay" | "leave" | "close"): Promise<Owner> {
  const program = fileURLToPath(new URL("./programs/own-engine.ts", import.meta.url));
  const owner = spawn(process.execPath, [program, driver, then], { stdio: ["pipe", "pipe", "inherit"] });
  // The program writes these types.
  const [line] = (await once(createInterface({ input: owner.stdout }), "line")) as [string];
  const { pid, runFolder } = JSON.parse(line) as { pid: number; runFolder: string };
  return { process: owner, enginePid: pid, runFolder };
}

describe("an owner that ends", () => {
  test.each(["embedded", "scripted"] as const)(
    "killed, leaves no %s engine behind, and its socket does not stop the next one",
    async (driver) => {
      const owner = await own(driver, "stay");
      expect(isAlive(owner.enginePid)).toBe(true);
      owner.process.kill("SIGKILL");
      await until("the engine is gone", () => !isAlive(owner.enginePid));
      expect(readdirSync(owner.runFolder)).toHaveLength(1);
      await using next = startScripted(undefined, undefined, undefined, owner.runFolder);
      await next.engine.whenReady();
      expect(await isAnswering(next.engine)).toBe(true);
    },
  );

  test.each([
    ["may just return: the engine does not hold it, and ends with it", "leave"],
    ["may end with closing: it lives until the engine is gone", "close"],
  ] as const)("%s", async (_title, then) => {
    const owner = await own("scripted", then);
    await expect(once(owner.process, "exit")).resolves.toEqual([0, null]);
    await until("the engine is gone", () => !isAlive(owner.enginePid));
    rmSync(owner.runFolder, { recursive: true, force: true });
  });
});
