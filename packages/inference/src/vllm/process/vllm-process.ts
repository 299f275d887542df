import { mkdirSync, rmSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { EngineFacts, Sampling } from "../../engine.ts";
import type { ChildStatus } from "../../child/protocol.ts";
import { EngineProcess } from "../../sidecar/engine-process.ts";
import { LogFile } from "../../sidecar/log-file.ts";
import { Supervisor } from "../../sidecar/supervise.ts";
import type { SupervisorReport } from "../../sidecar/supervised.ts";
import type { Timings } from "../../sidecar/timings.ts";
import { Connection } from "../../wire/connection.ts";
import { readFacts } from "../facts.ts";
import { readMetrics } from "../metrics.ts";
import { ModelFolderError } from "../model/model-folder.ts";
import { openModel } from "../model/open-model.ts";
import type { OpenModel } from "../model/open-model.ts";
import { VllmEngine, probe } from "../vllm-engine.ts";
import { withoutOurs } from "./environment.ts";
import { findVllm } from "./find-vllm.ts";
import { EngineFiles } from "./engine-files.ts";
import { RunRecords } from "./leftovers.ts";
import { planProcess } from "./plan-process.ts";
import type { ProcessPlan, ProcessSettings } from "./plan-process.ts";
import { readLog } from "./read-log.ts";

/** A restart that was asked for waits so long for streams under way. */
const longestStreamMs = 600_000;

export interface VllmProcessOptions extends ProcessSettings {
  /** An existing folder whose path is short: sockets are made in it. */
  readonly runFolder: string;
  /** A folder that outlives us: here we find what an earlier run of ours has left. */
  readonly stateFolder: string;
  readonly sampling: Omit<Sampling, "logit_bias">;
  readonly timings: Timings;
  readonly report: (event: SupervisorReport) => void;
}

/** `vllm serve` as a child process of ours, spoken to over a unix socket. */
export class VllmProcess {
  readonly #options: VllmProcessOptions;
  readonly #files: EngineFiles;
  readonly #records: RunRecords;
  readonly #log: LogFile;
  readonly #supervisor: Supervisor;
  readonly engine: VllmEngine;
  #plan: ProcessPlan | undefined;
  #model: OpenModel | undefined;
  #connection: Connection | undefined;

  constructor(options: VllmProcessOptions) {
    this.#options = options;
    this.#files = new EngineFiles(options.stateFolder, options.name);
    this.#records = new RunRecords(this.#files.record);
    this.#log = new LogFile(this.#files.log);
    this.#supervisor = new Supervisor({
      name: options.name,
      timings: options.timings,
      prepare: () => this.#prepare(),
      launch: (hear) => this.#launch(hear),
      read: (line) => this.#read(line),
      untilServing: (signal) => this.#untilServing(signal),
      probe: (signal) => this.#probe(signal),
      status: (signal) => this.#status(signal),
      cleanUp: () => this.#cleanUp(),
      report: options.report,
      random: Math.random,
    });
    this.engine = new VllmEngine({
      servedName: options.name,
      upstream: {
        stream: (path, body, signal) => this.#connected().stream(path, body, signal),
        read: (path, signal, body) => this.#connected().read(path, signal, body),
        close: async () => this.#connection?.close(),
      },
      model: () => this.#model,
      keeper: this.#supervisor,
    });
  }

  start(): void {
    this.#supervisor.start();
  }

  /** The API process under way, for an operator or a test that kills it. */
  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  /** Where its API listens. */
  get socketPath(): string {
    return this.#plan?.socketPath ?? "";
  }

  /** The last 200 lines of its log. */
  get logLines(): readonly string[] {
    return this.#supervisor.logLines;
  }

  /** Everything is looked at before vLLM is: it takes half a minute to find out. */
  async #prepare(): Promise<void> {
    const { weights, vllm, installFolder, runFolder } = this.#options;
    await this.#cleanUp();
    this.#model ??= await openModel(weights, () => (this.#model = undefined));
    if (this.#model.folder.weightsBytes === 0) {
      throw new ModelFolderError(`${weights} holds no weights (*.safetensors).`);
    }
    const found = await findVllm(vllm, installFolder);
    this.#plan = planProcess(this.#options, runFolder, this.#model.folder, found);
    mkdirSync(this.#plan.folder, { recursive: true, mode: 0o700 });
    await this.#connection?.close();
    // Whether it still works is found out by its progress.
    this.#connection = new Connection({ baseUrl: "http://engine", socketPath: this.#plan.socketPath, silenceMs: 0 });
  }

  #launch(hear: (line: string) => void): EngineProcess {
    const { command, args, variables, folder } = this.#plan ?? missing("a plan");
    const env = { ...withoutOurs(process.env), ...variables };
    const started = new EngineProcess({ command, args, env, endsBy: "SIGTERM" }, hear);
    if (started.pid !== undefined) this.#records.write(started.pid, folder);
    return started;
  }

  #read(line: string): ReturnType<ConstructorParameters<typeof Supervisor>[0]["read"]> {
    this.#log.append(line);
    return { notice: this.#supervisor.state === "ready" ? undefined : readLog(line), isLog: true };
  }

  async #untilServing(signal: AbortSignal): Promise<EngineFacts> {
    for (;;) {
      await wait(this.#options.timings.watchEveryMs, undefined, { signal });
      const model = this.#model ?? missing("a model");
      const options = { ...this.#options, model, servedName: this.#options.name };
      try {
        return await readFacts(this.#connected(), options, AbortSignal.any([signal, AbortSignal.timeout(5000)]));
      } catch (error) {
        if (signal.aborted) throw error;
      }
    }
  }

  async #probe(signal: AbortSignal): Promise<void> {
    await probe(this.#model ?? missing("a model"), this.#options.name, this.#connected(), signal);
    this.#records.noteShared();
  }

  /** A frozen engine core answers everything but tokens: what we wait for says whether it should be at work. */
  async #status(signal: AbortSignal): Promise<ChildStatus> {
    if (this.#files.takeRestartWish()) this.#restart();
    const awaited = this.#connected().awaited;
    const { running, waiting, tokens } = readMetrics(await this.#connected().read("/metrics", signal));
    return { running, waiting, computing: awaited, progress: tokens, aborted: 0 };
  }

  /** In its own time: whoever looks at the engine must not wait for its end. */
  #restart(): void {
    this.#log.append("asked to restart");
    void this.#supervisor.recycle(() => this.engine.untilIdle(longestStreamMs));
  }

  async #cleanUp(): Promise<void> {
    const found = await this.#records.clear();
    if (found.length > 0) this.#log.append(`cleared what an earlier run had left: ${found.join(", ")}`);
    if (this.#plan) rmSync(this.#plan.folder, { recursive: true, force: true });
  }

  #connected(): Connection {
    return this.#connection ?? missing("a connection");
  }
}

/** A step of the start was left out: a fault of ours. */
function missing(what: string): never {
  throw new Error(`the engine has no ${what} yet`);
}

export function startVllmProcess(options: VllmProcessOptions): VllmProcess {
  const started = new VllmProcess(options);
  started.start();
  return started;
}
