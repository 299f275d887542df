import { afterEach, describe, expect, test } from "vitest";
import { parseStatusMessage } from "../child/protocol.ts";
import type { StatusMessage } from "./status.ts";
import { probeRequest } from "../probe.ts";
import { EngineError } from "../engine.ts";
import type { EngineMetadata } from "../engine.ts";
import { isAlive, until } from "../../testing/until.ts";
import { EngineProcess } from "./engine-process.ts";
import { Supervisor } from "./supervisor.ts";
import type { Supervised, SupervisorReport } from "./supervised.ts";
import { defaultTimings } from "./timings.ts";
import type { Timings } from "./timings.ts";

const metadata: EngineMetadata = {
  contextLength: 1,
  quantization: "bf16",
  systemFingerprint: "fp_0",
  slots: 1,
  canReason: false,
  canCallTools: false,
  samplingDefaults: probeRequest.sampling,
  description: "",
};

const say = (message: StatusMessage): string => `console.log(${JSON.stringify(JSON.stringify(message))});`;
const ready = say({ status: "ready", metadata });
const stay = "process.stdin.resume(); process.stdin.on('end', () => process.exit(0));";
const quick: Timings = { ...defaultTimings, restartFirstMs: 40, watchEveryMs: 20, stopGraceMs: 300 };

interface Watched {
  readonly supervisor: Supervisor;
  readonly reports: SupervisorReport[];
  readonly states: () => string[];
}

const startNothing: Supervised["launch"] = (onLogLine) =>
  new EngineProcess({ command: "/nonexistent/engine", args: [], endsBy: "input" }, onLogLine);

const running: Supervisor[] = [];
afterEach(() => Promise.all(running.splice(0).map((supervisor) => supervisor.close(0))));

/** Supervises a Node program. Every member may be replaced. */
function supervise(program: string, changes: Partial<Supervised> = {}): Watched {
  const reports: SupervisorReport[] = [];
  const supervisor = new Supervisor({
    name: "vendor/model",
    launch: (onLogLine) =>
      new EngineProcess({ command: process.execPath, args: ["-e", program], endsBy: "input" }, onLogLine),
    read: (line) => ({ message: parseStatusMessage(line), isLog: parseStatusMessage(line) === undefined }),
    timings: quick,
    prepare: async () => undefined,
    probe: async () => undefined,
    status: async () => ({ running: 0, waiting: 0, computing: 0, progress: 0, aborted: 0 }),
    report: (event) => reports.push(event),
    random: () => 0.5,
    ...changes,
  });
  running.push(supervisor);
  supervisor.start();
  return { supervisor, reports, states: () => reports.map((report) => report.state) };
}

describe("a start", () => {
  test("is complete when a first token was produced, not before", async () => {
    const probed = Promise.withResolvers<void>();
    const loading = say({ status: "loading", share: 0.5, detail: "reading weights" });
    const { supervisor, reports } = supervise(loading + ready + stay, { probe: () => probed.promise });
    await until("it loads", () => reports.some((report) => report.detail === "reading weights 50 %"));
    expect([supervisor.state, supervisor.metadata]).toEqual(["loading", undefined]);
    probed.resolve();
    await supervisor.whenReady();
    expect([supervisor.state, supervisor.reason, supervisor.metadata]).toEqual(["ready", "", metadata]);
  });

  test("without a first token is a crash", async () => {
    const probe = (): Promise<void> => Promise.reject(new Error("no token"));
    const { supervisor } = supervise(ready + stay, { probe });
    await until("it is tried again", () => supervisor.restarts > 1);
    expect(supervisor.logLines.join("\n")).toContain("the first token did not come: Error: no token");
  });

  test("that finds its disk full is tried again, and succeeds when there is room", async () => {
    let tries = 0;
    const prepare = async (): Promise<void> => {
      tries += 1;
      if (tries <= 5) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    };
    const { supervisor, reports } = supervise(ready + stay, { prepare });
    await supervisor.whenReady();
    // More attempts than make an engine fail for good.
    expect([tries, supervisor.restarts]).toEqual([6, 5]);
    expect(reports.find(({ state }) => state === "crashed")?.detail).toMatch(/no space left on device.*starting again/);
  });

  test("for which our process has no descriptor is retried until it succeeds, and does not count as a crash", async () => {
    let triesLeft = 8;
    const prepare = async (): Promise<void> => {
      if (triesLeft-- > 0) throw Object.assign(new Error("EMFILE: too many open files, open"), { code: "EMFILE" });
    };
    const { supervisor, reports } = supervise(ready + stay, { prepare });
    await supervisor.whenReady();
    const waits = reports.flatMap((report) => /EMFILE.*starting again in (\d+) ms/.exec(report.detail)?.[1] ?? []);
    expect(waits).toEqual(Array.from({ length: 8 }, () => "80"));
  });

  test("goes on and asks again when our process has no descriptor to ask for the first token", async () => {
    let asked = 0;
    const probe = async (): Promise<void> => {
      asked += 1;
      const cause = Object.assign(new Error("connect EMFILE"), { code: "EMFILE" });
      if (asked <= 3) throw new EngineError("unavailable", "the engine could not be asked", { cause });
    };
    const { supervisor } = supervise(ready + stay, { probe });
    await supervisor.whenReady();
    expect([asked, supervisor.restarts]).toEqual([4, 0]);
  });

  test("reports the reason for its end if the log contains it", async () => {
    const failing = say({ status: "failing", message: "its disk is full" });
    const { supervisor, reports } = supervise(`${failing} console.error("last words"); process.exit(1)`);
    await until("it is tried again", () => supervisor.restarts > 0);
    expect(reports.find(({ state }) => state === "crashed")?.detail).toMatch(/^its disk is full; starting again/);
  });

  test("that logs nothing is ended, and one that logs progress is not", async () => {
    const silent = supervise(stay, { timings: { ...quick, startSilenceMs: 400 } });
    await until("it is tried again", () => silent.supervisor.restarts > 0);
    expect(silent.supervisor.logLines).toContain("no output for 400 ms while starting");
    const talking = `let n = 0; setInterval(() => { console.error(++n); if (n === 30) ${ready} }, 100); ${stay}`;
    const slow = supervise(talking, { timings: { ...quick, startSilenceMs: 2500 } });
    await slow.supervisor.whenReady();
    expect(slow.supervisor.restarts).toBe(0);
  });

  test("that fails for good is not tried again", async () => {
    const why = "The model file is missing.";
    const { supervisor, states } = supervise(say({ status: "fatal", message: why }) + stay);
    await expect(supervisor.whenReady()).rejects.toThrow(why);
    expect([supervisor.state, supervisor.reason, supervisor.pid]).toEqual(["failed", why, undefined]);
    expect(states()).toEqual(["starting", "failed"]);
  });

  test("that fails for good is ended although it stays", async () => {
    const { supervisor } = supervise(
      `${say({ status: "fatal", message: "No." })} setInterval(() => console.log(0), 20);`,
    );
    await expect(supervisor.whenReady()).rejects.toThrow("No.");
    expect(supervisor.pid).toBeUndefined();
  });

  test("that fails for good is not tried again although its process ends at once", async () => {
    const { supervisor, reports } = supervise(
      `${say({ status: "fatal", message: "No." })} console.error("more"); process.exitCode = 1;`,
    );
    await expect(supervisor.whenReady()).rejects.toThrow("No.");
    expect([supervisor.state, supervisor.restarts]).toEqual(["failed", 0]);
    expect(reports.at(-1)?.log).toEqual(["more"]);
  });

  test.each([
    [
      "a program that fails",
      "for (let i = 0; i < 5000; i += 1) console.error('line ' + i); process.exitCode = 3;",
      {},
      "exit code 3): line 4999",
    ],
    [
      "a program that is killed",
      "console.log('bye'); process.kill(process.pid, 'SIGKILL');",
      {},
      "signal SIGKILL): bye",
    ],
    ["a program that is not there", "", { launch: startNothing }, "ENOENT"],
  ])("%s is tried four times, then failed, with its last words", async (_title, program, changes, why) => {
    const { supervisor, reports } = supervise(program, { ...changes, timings: { ...quick, restartFirstMs: 2 } });
    await expect(supervisor.whenReady()).rejects.toThrow(why);
    expect([supervisor.state, supervisor.restarts]).toEqual(["failed", 3]);
    expect(reports.at(-1)).toMatchObject({ state: "failed", log: supervisor.logLines });
    expect(supervisor.logLines.length).toBeLessThanOrEqual(200);
  });

  test("noise on standard output does no harm", async () => {
    const noise = `process.stdout.write('x'.repeat(300000) + '\\n{"status":\\n{"status": "rea\\n\\u0000\\n\\n');`;
    const { supervisor } = supervise(noise + ready + stay);
    await supervisor.whenReady();
    expect(Math.max(...supervisor.logLines.map((line) => line.length))).toBeLessThan(100_000);
  });
});

describe("a ready engine", () => {
  const dies = `${ready}${stay} setTimeout(() => process.exit(9), 200);`;

  test("that dies is started again, and can be waited for", async () => {
    const { supervisor, reports, states } = supervise(ready + stay);
    await supervisor.whenReady();
    const { pid = 0 } = supervisor;
    process.kill(pid, "SIGKILL");
    // Checked through its report, because the state itself lasts only a few milliseconds.
    await until("the crash is noticed", () => states().includes("crashed"));
    expect(reports.find(({ state }) => state === "crashed")?.detail).toContain("signal SIGKILL");
    await supervisor.whenReady();
    expect([supervisor.restarts, supervisor.pid === pid]).toEqual([1, false]);
    expect(states()).toEqual(["starting", "ready", "crashed", "starting", "ready"]);
  });

  test("that dies again and again waits longer every time, and never fails for good", async () => {
    const { supervisor, reports } = supervise(dies, { timings: { ...quick, failAfterCrashes: 2 } });
    await until("it has died four times", () => supervisor.restarts >= 4);
    const waits = reports.flatMap((report) => /starting again in (\d+) ms/.exec(report.detail)?.[1] ?? []);
    expect(waits.slice(0, 4)).toEqual(["20", "40", "80", "160"]);
  });

  test("that was healthy for a long time restarts without a long wait", async () => {
    const { supervisor, reports } = supervise(dies, { timings: { ...quick, healthyResetMs: 5 } });
    await until("it has died three times", () => supervisor.restarts >= 3);
    const waits = reports.flatMap((report) => /starting again in (\d+) ms/.exec(report.detail)?.[1] ?? []);
    expect(waits.slice(0, 3)).toEqual(["20", "20", "20"]);
  });

  test("that fails to answer is killed, and started again", async () => {
    let isFrozen = false;
    const status = async (): Promise<never> => Promise.reject(new Error(isFrozen ? "frozen" : "not asked yet"));
    const { supervisor } = supervise(ready + stay, {
      status: (signal) =>
        isFrozen
          ? status()
          : Promise.resolve({ running: 0, waiting: 0, computing: 0, progress: 0, aborted: Number(signal.aborted) }),
    });
    await supervisor.whenReady();
    isFrozen = true;
    await until("it is killed", () => supervisor.restarts === 1);
    isFrozen = false;
    await supervisor.whenReady();
    expect(supervisor.logLines.join("\n")).toContain("the engine refused to answer (Error: frozen)");
  });

  test("is killed together with the processes that it has started", async () => {
    const helper =
      "const { pid } = require('child_process').spawn('sleep', ['600'], { stdio: 'inherit' }); console.log('helper ' + pid);";
    const { supervisor } = supervise(helper + ready + stay);
    await supervisor.whenReady();
    const pid = Number(supervisor.logLines.join("\n").split("helper ")[1]);
    expect(isAlive(pid)).toBe(true);
    process.kill(supervisor.pid ?? 0, "SIGKILL");
    await until("the helper is gone", () => !isAlive(pid));
    await supervisor.whenReady();
    expect(supervisor.restarts).toBe(1);
  });
});

describe("closing", () => {
  const stubborn = `${ready} process.stdin.on('data', () => 0); setInterval(() => 0, 1000);`;

  test.each([
    ["at once", 0],
    ["after its grace", 150],
    ["after the longest grace", 60_000],
  ])("ends a process that does not listen, %s", async (_title, graceMs) => {
    const { supervisor, states } = supervise(stubborn);
    await supervisor.whenReady();
    const { pid = 0 } = supervisor;
    const begun = Date.now();
    await supervisor.close(graceMs);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(Math.min(graceMs, quick.stopGraceMs) - 5);
    expect([isAlive(pid), supervisor.state, supervisor.pid]).toEqual([false, "stopped", undefined]);
    expect(states().slice(-2)).toEqual(["draining", "stopped"]);
    await expect(supervisor.whenReady()).rejects.toThrow("vendor/model was stopped");
  });

  test.each([
    ["right after the start", async () => undefined],
    ["while it starts", async ({ supervisor }: Watched) => until("it runs", () => supervisor.pid !== undefined)],
  ])("%s, refuses who waits", async (_title, prepare) => {
    const watched = supervise(stay);
    const waiting = watched.supervisor.whenReady();
    await prepare(watched);
    await watched.supervisor.close(1000);
    await expect(waiting).rejects.toThrow("was stopped");
    expect([watched.supervisor.state, watched.supervisor.pid]).toEqual(["stopped", undefined]);
  });

  test("twice is one shutdown, and the second call may shorten it", async () => {
    const { supervisor, states } = supervise(stubborn, { timings: { ...quick, stopGraceMs: 60_000 } });
    await supervisor.whenReady();
    await Promise.all([supervisor.close(60_000), supervisor.close(0)]);
    await supervisor.close(0);
    expect(states()).toEqual(["starting", "ready", "draining", "stopped"]);
  });

  test("ends the wait for a restart", async () => {
    const timings = { ...quick, restartFirstMs: 300 };
    const { supervisor, states } = supervise("process.exit(1)", { timings, random: () => 0.99 });
    await until("it waits", () => supervisor.state === "crashed");
    await supervisor.close(0);
    const closedAt = Date.now();
    await until("it would have started again", () => Date.now() - closedAt > timings.restartFirstMs);
    expect([states().at(-1), supervisor.restarts]).toEqual(["stopped", 0]);
  });
});
