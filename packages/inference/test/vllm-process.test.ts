import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { EngineError } from "../src/index.ts";
import { EngineFiles } from "../src/vllm/index.ts";
import { oneByOne, requestFor, stream } from "../testing/requests.ts";
import { quickTimings, startScriptedVllm } from "../testing/start-scripted-vllm.ts";
import type { StartedScriptedVllm } from "../testing/start-scripted-vllm.ts";
import { isAlive, until } from "../testing/until.ts";

/** The process driver with a stand-in that behaves as we have seen vLLM behave. Other tests use a real vLLM. */

interface Outcome {
  readonly text: string;
  readonly end: string;
}

async function outcomeOf({ vllm }: StartedScriptedVllm, say: string, maxTokens: number): Promise<Outcome> {
  let text = "";
  let end = "nothing";
  try {
    const request = requestFor({ say, maxTokens });
    for await (const event of oneByOne(stream(vllm.engine, request, AbortSignal.timeout(20_000)))) {
      if (event.kind === "text") text += event.text;
      if (event.kind === "finish") end = event.reason;
    }
  } catch (error) {
    end = error instanceof EngineError ? error.kind : String(error);
  }
  return { text, end };
}

describe("a failure that a restart would not fix is reported at once, in a sentence", () => {
  test.each<[string, object, RegExp]>([
    [
      "an unknown flag",
      { log: ["vllm serve: error: unrecognized arguments: --no-such-flag"], exit: 2 },
      /does not know --no-such-flag/,
    ],
    [
      "another architecture",
      { log: ["ValueError: Model architectures ['OddForCausalLM'] are not supported for now."], exit: 1 },
      /cannot run models of the architecture \['OddForCausalLM'\]/,
    ],
    [
      "damaged weights",
      { log: ["safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata"], exit: 1 },
      /The weights are damaged/,
    ],
  ])("%s", async (_title, script, why) => {
    await using started = startScriptedVllm(script);
    await expect(started.vllm.engine.whenReady()).rejects.toThrow(why);
    expect([started.vllm.engine.state, started.vllm.engine.gauges().restarts]).toEqual(["failed", 0]);
    expect(started.reports.at(-1)?.log?.length).toBeGreaterThan(0);
  });

  test.each<[string, object, RegExp]>([
    ["no weights", { weights: "/nonexistent/weights" }, /folder \/nonexistent\/weights is missing/],
    ["no vLLM where one is named", { vllm: "/nonexistent/venv" }, /PARLEY_VLLM names \/nonexistent\/venv/],
    ["no vLLM anywhere", { vllm: undefined }, /There is no vLLM on this machine/],
  ])("%s", async (_title, changes, why) => {
    await using started = startScriptedVllm({}, changes);
    await expect(started.vllm.engine.whenReady()).rejects.toThrow(why);
    expect(started.vllm.engine.state).toBe("failed");
  });

  test("a failure that may pass is retried, and then reported with the last lines of the log", async () => {
    await using started = startScriptedVllm({ log: ["RuntimeError: out of memory"], exit: 1 });
    await expect(started.vllm.engine.whenReady()).rejects.toThrow("RuntimeError: out of memory");
    expect(started.vllm.engine.gauges().restarts).toBe(3);
  });
});

describe("an orphan of an earlier run", () => {
  test("is killed and cleared before a new start", async () => {
    // The owner that counts as dead must not start its engine again, because both use one path for the socket.
    const timings = { ...quickTimings, restartFirstMs: 60_000, maxRestartMs: 60_000 };
    await using started = startScriptedVllm({}, { timings });
    await started.vllm.engine.whenReady();
    const { runState } = new EngineFiles(`${started.folder}/state`, "vendor/model-1-mini");
    const orphan = started.vllm.pid ?? 0;
    const copy = readFileSync(runState, "utf8");
    // This is the state after a SIGKILL of our own process: nothing was cleaned up, and the orphan still runs.
    await using next = startScriptedVllm({}, { stateFolder: `${started.folder}/state`, runFolder: started.folder });
    await next.vllm.engine.whenReady();
    expect(JSON.parse(copy)).toMatchObject({ group: orphan });
    expect(isAlive(orphan) && next.vllm.pid === orphan).toBe(false);
    const log = new EngineFiles(`${started.folder}/state`, "vendor/model-1-mini").lastLines(50);
    expect(log).toContain(`cleared what an earlier run had left: process ${orphan}`);
  });

  test("somebody else's process that got the same number is left alone", async () => {
    await using started = startScriptedVllm({});
    await started.vllm.engine.whenReady();
    const { runState } = new EngineFiles(`${started.folder}/other`, "vendor/model-1-mini");
    await using next = startScriptedVllm({}, { stateFolder: `${started.folder}/other` });
    await next.vllm.engine.whenReady();
    const stranger = { ...(JSON.parse(readFileSync(runState, "utf8")) as object), group: process.pid, startTicks: 1 };
    writeFileSync(runState, JSON.stringify(stranger));
    process.kill(next.vllm.pid ?? 0, "SIGKILL");
    await until("it was restarted", () => next.vllm.engine.gauges().restarts > 0);
    await next.vllm.engine.whenReady();
    expect(isAlive(process.pid)).toBe(true);
  });
});

test("a file at the path of its socket is removed", async () => {
  await using first = startScriptedVllm({});
  await first.vllm.engine.whenReady();
  const { socketPath } = first.vllm;
  await first.vllm.engine.close(0);
  mkdirSync(dirname(socketPath));
  writeFileSync(socketPath, "");
  await using next = startScriptedVllm({}, { runFolder: first.folder });
  await next.vllm.engine.whenReady();
  expect([next.vllm.socketPath, next.vllm.engine.gauges().restarts]).toEqual([socketPath, 0]);
});

describe("a restart that is asked for", () => {
  test("lets running requests finish, and does not count as a crash", async () => {
    await using started = startScriptedVllm({});
    await started.vllm.engine.whenReady();
    const { pid } = started.vllm;
    const running = outcomeOf(started, "a long one", 1500);
    await until("it runs", () => started.vllm.engine.gauges().running === 1);
    new EngineFiles(`${started.folder}/state`, "vendor/model-1-mini").requestRestart();
    expect((await running).end).toBe("length");
    await until("it was restarted", () => started.vllm.engine.gauges().restarts === 1);
    await started.vllm.engine.whenReady();
    expect(started.vllm.pid).not.toBe(pid);
    expect(started.reports.map(({ state }) => state)).not.toContain("crashed");
  });
});

test("closing leaves nothing: no process, no socket, no run state", async () => {
  await using started = startScriptedVllm({});
  await started.vllm.engine.whenReady();
  const { pid = 0, socketPath } = started.vllm;
  await started.vllm.engine.close(1000);
  const { runState } = new EngineFiles(`${started.folder}/state`, "vendor/model-1-mini");
  expect([isAlive(pid), existsSync(socketPath), existsSync(runState)]).toEqual([false, false, false]);
});

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapMegabytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** A tenth of the full number finds most faults. The variable asks for the full number. */
const streams = Number(process.env["PARLEY_TEST_STREAMS"] ?? 1000);

test(
  `${streams} streams of an engine that kills itself at random: none is cut in silence, nothing leaks`,
  { timeout: 600_000 },
  async () => {
    await using started = startScriptedVllm({ chaos: 0.004, deadly: 0.06 });
    const { engine } = started.vllm;
    await engine.whenReady();
    const ends = new Map<string, number>();
    const whole = new Map<string, string>();
    let begun = 0;
    let heapEarly = 0;
    let cutInSilence = 0;
    const one = async (): Promise<void> => {
      while (begun < streams) {
        const say = `question ${(begun += 1) % 20}`;
        if (begun === Math.floor(streams / 4)) heapEarly = heapMegabytes();
        if (engine.state !== "ready") await engine.whenReady();
        const { text, end } = await outcomeOf(started, say, 40);
        ends.set(end, (ends.get(end) ?? 0) + 1);
        if (end !== "length") continue;
        // The same question always gets the same answer of 40 letters.
        if (text.length !== 40 || (whole.get(say) ?? text) !== text) cutInSilence += 1;
        whole.set(say, text);
      }
    };
    await Promise.all(Array.from({ length: 32 }, one));
    const grown = heapMegabytes() - heapEarly;
    console.table([
      {
        streams,
        ...Object.fromEntries(ends),
        restarts: engine.gauges().restarts,
        heapGrownMb: Math.round(grown * 10) / 10,
      },
    ]);
    expect(cutInSilence).toBe(0);
    expect([...ends.keys()].toSorted()).toEqual(expect.arrayContaining(["crashed", "length"]));
    expect([...ends.keys()].filter((end) => !["length", "crashed", "protocol", "unavailable"].includes(end))).toEqual(
      [],
    );
    expect([engine.gauges().running, engine.gauges().restarts > 0]).toEqual([0, true]);
    expect(grown).toBeLessThan(15);
  },
);
