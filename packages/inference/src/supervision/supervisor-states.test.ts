import { setImmediate as nextRound } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { cellsOf } from "../../testing/cells-of.ts";
import { isAlive, until } from "../../testing/until.ts";
import { parseStatusMessage } from "../child/protocol.ts";
import { EngineError } from "../engine.ts";
import type { EngineMetadata } from "../engine.ts";
import { probeRequest } from "../probe.ts";
import { EngineProcess } from "./engine-process.ts";
import type { StatusMessage } from "./status.ts";
import { phases } from "./supervisor-states.ts";
import { Supervisor } from "./supervisor.ts";
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

/** Nothing happens by itself: every event is made by hand. */
const slow: Timings = {
  ...defaultTimings,
  startSilenceMs: 60_000,
  stopGraceMs: 60_000,
  restartFirstMs: 60_000,
  maxPauseAfterReadyMs: 60_000,
  watchEveryMs: 5,
};

/** A supervisor of `sleep 600`, whose lines, tokens and end are made by hand. It records what is reported, asked and killed. */
class Fed {
  readonly seen: string[] = [];
  readonly #supervisor: Supervisor;
  readonly #prepared = Promise.withResolvers<undefined>();
  readonly #probes: PromiseWithResolvers<undefined>[] = [];
  #isFrozen = false;
  #cleanUpFailure: Error | undefined;
  /** True while the process is really killed. */
  #isEnding = false;
  #write: (line: string) => void = () => undefined;

  constructor(timings: Partial<Timings> = {}) {
    this.#supervisor = new Supervisor({
      name: "vendor/model",
      timings: { ...slow, ...timings },
      prepare: () => this.#prepared.promise,
      launch: (onLogLine) => {
        this.#write = onLogLine;
        const kill = (pid: number): void => void (this.#isEnding ? end(pid) : this.seen.push("kill"));
        return new EngineProcess({ command: "sleep", args: ["600"], endsBy: "input", kill }, onLogLine);
      },
      read: (line) => ({ message: parseStatusMessage(line), isLog: true }),
      cleanUp: async () => {
        if (this.#cleanUpFailure) throw this.#cleanUpFailure;
      },
      probe: () => {
        this.seen.push("probe");
        const probe = Promise.withResolvers<undefined>();
        this.#probes.push(probe);
        return probe.promise;
      },
      status: async () => {
        if (this.#isFrozen) throw new Error("frozen");
        return { running: 0, waiting: 0, computing: 0, progress: 0, aborted: 0 };
      },
      report: ({ state }) => this.seen.push(state),
      random: () => 0.5,
    });
  }

  readonly #triggers: Readonly<Record<string, () => unknown>> = {
    start: () => this.#supervisor.start(),
    prepared: () => this.#prepared.resolve(undefined),
    unprepared: () => this.#prepared.reject(new Error("no such file")),
    sign: () => this.#write("a line"),
    loading: () => this.#say({ status: "loading", share: 0.5, detail: "reading" }),
    failing: () => this.#say({ status: "failing", message: "its disk is full" }),
    fatal: () => this.#say({ status: "fatal", message: "its file is missing" }),
    serving: () => this.#say({ status: "ready", metadata }),
    answered: () => this.#probes.at(-1)?.resolve(undefined),
    "no token": () => this.#probes.at(-1)?.reject(new Error("no token")),
    "first answered": () => this.#probes[0]?.resolve(undefined),
    "no first token": () => this.#probes[0]?.reject(new Error("no token")),
    frozen: async () => {
      this.#isFrozen = true;
      await until("it is killed", () => this.seen.includes("kill"));
    },
    suspect: async () => {
      void this.#supervisor.confirmFailure();
      await until("it is asked", () => this.seen.includes("probe"));
    },
    doubt: () => this.#probes.at(-1)?.reject(new EngineError("crashed", "it broke off")),
    restart: () => void this.#supervisor.restartGracefully(() => new Promise(() => undefined)),
    end: () => this.#end(),
    "no start": () => this.#end(new Error("permission denied")),
    shortage: () => this.#end(Object.assign(new Error("too many open files"), { code: "EMFILE" })),
    due: () => until("it starts", () => this.seen.includes("starting")),
    close: () => this.#supervisor.drain(),
    gone: () => this.close(),
  };

  #say(message: StatusMessage): void {
    this.#write(JSON.stringify(message));
  }

  async #end(cleanUpFailure?: Error): Promise<void> {
    this.#cleanUpFailure = cleanUpFailure;
    this.#isEnding = true;
    const { pid = 0 } = this.#supervisor;
    end(pid);
    await until("it has ended", () => this.#supervisor.pid !== pid);
    this.#isEnding = false;
  }

  /** Makes events happen, one after the other. @returns the effects of the last one */
  async after(...events: readonly string[]): Promise<string> {
    for (const event of events) {
      this.seen.length = 0;
      await this.#triggers[event]?.();
      for (let round = 0; round < 5; round += 1) await nextRound();
    }
    return this.seen.join(", ");
  }

  close(): Promise<void> {
    this.#isEnding = true;
    this.#cleanUpFailure = undefined;
    this.#prepared.resolve(undefined);
    return this.#supervisor.close(0);
  }
}

function end(pid: number): void {
  if (pid > 0 && isAlive(pid)) process.kill(pid, "SIGKILL");
}

const running: Fed[] = [];
afterEach(() => Promise.all(running.splice(0).map((fed) => fed.close())));

const started = ["start", "prepared"];
const probed = [...started, "serving"];
const loading = [...started, "loading"];
const loadingProbed = [...loading, "serving"];
const ready = [...probed, "answered"];
/** A process that has reported twice that it serves, and has produced one of two tokens. */
const askedTwice = [...probed, "serving", "answered"];
const suspected = [...ready, "suspect"];
const doubted = [...suspected, "doubt"];
const frozen = [...suspected, "frozen"];
const dying = [...started, "fatal"];
const restarting = [...ready, "restart"];
const closing = [...started, "close"];
/** Half of it passes before the next start: longer than the end of the process takes, which is looked for every 10 ms. */
const waits = { restartFirstMs: 2000 };

type TableRow = readonly [
  way: readonly string[],
  event: string,
  effects: string,
  cells: string,
  timings?: Partial<Timings>,
];

/** The events that lead into a phase, the event, its effects, and the cells of the table that are used. */
const rows: readonly TableRow[] = [
  [[], "start", "starting", "absent start → starting"],
  [[], "close", "draining", "absent close → closing"],
  [["start"], "prepared", "", "starting prepared → starting"],
  [["start"], "unprepared", "failed", "starting noStart → starting, starting giveUp → failed"],
  [started, "sign", "", "starting sign → starting"],
  [started, "loading", "loading", "starting loading → loading"],
  [
    [...started, "failing"],
    "end",
    "crashed",
    "starting failing → starting, starting end → starting, starting crash → waiting",
    { failAfterCrashes: 1 },
  ],
  [started, "end", "failed", "starting end → starting, starting giveUp → failed", { failAfterCrashes: 1 }],
  [started, "fatal", "", "starting fatal → dying"],
  [started, "serving", "probe", "starting serving → starting"],
  [probed, "answered", "ready", "starting answered → ready"],
  [probed, "no token", "kill", "starting broken → starting"],
  [started, "restart", "", "starting restart → starting"],
  [started, "close", "draining", "starting close → closing"],
  [loading, "sign", "", "loading sign → loading"],
  [loading, "loading", "loading", "loading loading → loading"],
  [
    [...loading, "failing"],
    "end",
    "crashed",
    "loading failing → loading, loading end → loading, loading crash → waiting",
    { failAfterCrashes: 1 },
  ],
  [loading, "end", "failed", "loading giveUp → failed", { failAfterCrashes: 1 }],
  [loading, "no start", "failed", "loading noStart → loading"],
  [loading, "fatal", "", "loading fatal → dying"],
  [loading, "serving", "probe", "loading serving → loading"],
  [loadingProbed, "answered", "ready", "loading answered → ready"],
  [loadingProbed, "no token", "kill", "loading broken → loading"],
  [loading, "restart", "", "loading restart → loading"],
  [loading, "close", "draining", "loading close → closing"],
  [ready, "sign", "", "ready sign → ready"],
  [ready, "loading", "", "ready loading → ready"],
  [ready, "failing", "", "ready failing → ready"],
  [[...ready, "fatal"], "end", "failed", "ready fatal → dying, dying end → dying, dying giveUp → failed"],
  [ready, "serving", "", "ready serving → ready"],
  [askedTwice, "first answered", "", "ready answered → ready"],
  [ready, "frozen", "crashed, kill", "ready broken → suspended"],
  [suspected, "doubt", "crashed, probe", "ready doubt → suspended"],
  [ready, "restart", "draining", "ready restart → restarting"],
  [ready, "end", "crashed", "ready end → ready, ready crash → waiting", { failAfterCrashes: 1 }],
  [ready, "no start", "failed", "ready noStart → ready, ready giveUp → failed"],
  [ready, "close", "draining", "ready close → closing"],
  [doubted, "sign", "", "suspended sign → suspended"],
  [doubted, "loading", "", "suspended loading → suspended"],
  [doubted, "failing", "", "suspended failing → suspended"],
  [[...doubted, "fatal"], "end", "failed", "suspended fatal → dying"],
  [doubted, "serving", "", "suspended serving → suspended"],
  [doubted, "answered", "ready", "suspended answered → ready"],
  [doubted, "no token", "kill", "suspended broken → suspended"],
  [frozen, "doubt", "", "suspended doubt → suspended"],
  [doubted, "restart", "", "suspended restart → suspended"],
  [doubted, "end", "crashed", "suspended end → suspended, suspended crash → waiting", { failAfterCrashes: 1 }],
  [doubted, "no start", "failed", "suspended noStart → suspended, suspended giveUp → failed"],
  [doubted, "close", "draining", "suspended close → closing"],
  [dying, "sign", "", "dying sign → dying"],
  [dying, "loading", "", "dying loading → dying"],
  [dying, "failing", "", "dying failing → dying"],
  [dying, "fatal", "", "dying fatal → dying"],
  [dying, "serving", "", "dying serving → dying"],
  [[...probed, "fatal"], "answered", "", "dying answered → dying"],
  [[...probed, "fatal"], "no token", "kill", "dying broken → dying"],
  [[...suspected, "fatal"], "doubt", "", "dying doubt → dying"],
  [dying, "restart", "", "dying restart → dying"],
  [dying, "end", "failed", "dying end → dying, dying giveUp → failed"],
  [dying, "shortage", "crashed", "dying noStart → dying, dying crash → waiting"],
  [dying, "close", "draining", "dying close → closing"],
  [restarting, "sign", "", "restarting sign → restarting"],
  [restarting, "loading", "", "restarting loading → restarting"],
  [restarting, "failing", "", "restarting failing → restarting"],
  [[...restarting, "fatal"], "end", "failed", "restarting fatal → dying"],
  [restarting, "serving", "", "restarting serving → restarting"],
  [[...suspected, "restart"], "doubt", "", "restarting doubt → restarting"],
  [[...askedTwice, "restart"], "first answered", "", "restarting answered → restarting"],
  [[...askedTwice, "restart"], "no first token", "kill", "restarting broken → restarting"],
  [restarting, "restart", "", "restarting restart → restarting"],
  [restarting, "end", "starting", "restarting end → restarting, restarting due → starting"],
  [restarting, "no start", "failed", "restarting noStart → restarting, restarting giveUp → failed"],
  [restarting, "shortage", "crashed", "restarting crash → waiting"],
  [restarting, "close", "draining", "restarting close → closing"],
  [[...started, "end"], "due", "starting", "waiting due → starting", waits],
  [[...started, "end"], "close", "draining", "waiting close → closing"],
  [["start", "close"], "prepared", "", "closing prepared → closing"],
  [closing, "sign", "", "closing sign → closing"],
  [closing, "loading", "", "closing loading → closing"],
  [closing, "failing", "", "closing failing → closing"],
  [closing, "fatal", "", "closing fatal → closing"],
  [closing, "serving", "", "closing serving → closing"],
  [[...probed, "close"], "answered", "", "closing answered → closing"],
  [[...probed, "close"], "no token", "kill", "closing broken → closing"],
  [[...suspected, "close"], "doubt", "", "closing doubt → closing"],
  [closing, "restart", "", "closing restart → closing"],
  [closing, "end", "", "closing end → closing"],
  [closing, "no start", "", "closing noStart → closing"],
  [closing, "close", "", "closing close → closing"],
  [closing, "gone", "stopped", "closing gone → stopped"],
  [[...closing, "gone"], "close", "", "stopped close → stopped"],
  [[...closing, "gone"], "gone", "", "stopped gone → stopped"],
  [[...dying, "end"], "close", "draining", "failed close → closing"],
];

const runs = rows.map(([way, event, effects, , timings]) => ({ way, event, effects, timings }));

test.each(runs)("after $way, the event $event has the effects: $effects", async ({ way, event, effects, timings }) => {
  const fed = new Fed(timings);
  running.push(fed);
  expect(await fed.after(...way, event)).toBe(effects);
});

test("the rows above are the whole table, and every other pair is impossible", () => {
  const shown = rows.flatMap(([, , , cells]) => cells.split(", "));
  expect([...new Set(shown)].toSorted()).toEqual(cellsOf(phases).toSorted());
});
