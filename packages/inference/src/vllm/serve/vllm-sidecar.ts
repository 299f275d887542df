import { setTimeout as wait } from "node:timers/promises";
import type { EngineMetadata, Sampling } from "../../engine.ts";
import { ModelFolderError } from "../../model-folder/model-folder.ts";
import type { ModelFolder } from "../../model-folder/model-folder.ts";
import { openModel } from "../../model-folder/open-model.ts";
import type { OpenModel } from "../../model-folder/open-model.ts";
import { completionsAdapter } from "../../openai/completions/completions-adapter.ts";
import { cacheSalter } from "../../openai/cache-salt.ts";
import type { CacheSalter } from "../../openai/cache-salt.ts";
import { OpenAiEngine } from "../../openai/openai-engine.ts";
import { readMetadata } from "../../openai/read-metadata.ts";
import type { Upstream } from "../../openai/upstream.ts";
import { expectToken, probeRequest, streamAtOnce } from "../../probe.ts";
import { LogFile } from "../../supervision/engine-log.ts";
import type { EngineProcess } from "../../supervision/engine-process.ts";
import type { EngineStatus } from "../../supervision/status.ts";
import { Supervisor } from "../../supervision/supervisor.ts";
import type { Supervised, SupervisorReport } from "../../supervision/supervised.ts";
import type { Timings } from "../../supervision/timings.ts";
import { Connection } from "../../wire/connection.ts";
import { spareSlots } from "./serve-arguments.ts";
import { EngineFiles } from "./engine-files.ts";
import { readLog } from "./read-log.ts";
import { readMetrics } from "./read-metrics.ts";

/** Runs `vllm serve`, as a process or through a container engine. */
export interface VllmHost {
  /** Checks if a start can succeed and plans it. Returns the socket path on which the API will listen. */
  prepare(model: ModelFolder): Promise<{ readonly socketPath: string }>;
  launch(onLogLine: (line: string) => void): EngineProcess;
  /** Called when vLLM has just produced a token. Records the resources that belong to the run. */
  noteReady(): void;
  /** Ends and clears everything that a run has left. Resolves with a description of it. */
  cleanUp(): Promise<readonly string[]>;
}

export interface SidecarOptions {
  /** The model id, which is also the name in vLLM. */
  readonly name: string;
  /** Folder of weights in the Hugging Face format. */
  readonly weights: string;
  /** The maximum number of choices at the same time. */
  readonly slots: number;
  readonly sampling: Omit<Sampling, "logit_bias">;
  /** The prompt line that shows the model a schema; undefined: schemas are not shown. */
  readonly schemaPrompt?: string | undefined;
  /** Keeps the cached prompts of keys apart. */
  readonly cacheSecret: Uint8Array;
  /** A folder that outlives the server, in which it finds the leftovers of an earlier run. */
  readonly stateFolder: string;
  readonly timings: Timings;
  readonly report: (event: SupervisorReport) => void;
}

/** The time that a graceful restart waits for running streams. */
const longestStreamMs = 600_000;

/** Starts, supervises, restarts and stops a vLLM of this server, and reaches it over a unix socket. */
export class VllmSidecar {
  readonly #options: SidecarOptions;
  readonly #host: VllmHost;
  readonly #files: EngineFiles;
  readonly #log: LogFile;
  readonly #supervisor: Supervisor;
  readonly #saltOf: CacheSalter;
  readonly engine: OpenAiEngine;
  /** Replaced after every start. */
  readonly #upstream: Upstream = {
    open: async (path, body, signal, delivery) => this.#connected().open(path, body, signal, delivery),
    read: (path, signal, body) => this.#connected().read(path, signal, body),
    hasChoice: false,
    ejected: 0, // A failed vLLM is restarted, not ejected.
    close: async () => this.#connection?.close(),
  };
  #model: OpenModel | undefined;
  #connection: Connection | undefined;
  #socketPath = "";

  constructor(options: SidecarOptions, host: VllmHost) {
    this.#options = options;
    this.#host = host;
    this.#saltOf = cacheSalter(options.cacheSecret);
    this.#files = new EngineFiles(options.stateFolder, options.name);
    this.#log = new LogFile(this.#files.log);
    this.#supervisor = new Supervisor({
      name: options.name,
      timings: options.timings,
      prepare: () => this.#prepare(),
      launch: (onLogLine) => host.launch(onLogLine),
      read: (line) => this.#read(line),
      untilServing: (signal) => this.#untilServing(signal),
      probe: (signal) => this.#probe(signal),
      status: (signal) => this.#status(signal),
      cleanUp: () => this.#cleanUp(),
      report: options.report,
      random: Math.random,
    });
    this.engine = new OpenAiEngine({
      servedName: options.name,
      upstream: this.#upstream,
      saltOf: this.#saltOf,
      adapter: completionsAdapter,
      model: () => this.#model,
      lifecycle: this.#supervisor,
    });
  }

  start(): void {
    this.#supervisor.start();
  }

  /** The running API process, for an operator or a test that kills it. */
  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  /** The socket path of the API. */
  get socketPath(): string {
    return this.#socketPath;
  }

  /** Returns the last 200 lines of its log. */
  get logLines(): readonly string[] {
    return this.#supervisor.logLines;
  }

  /** Checks everything before vLLM is started. vLLM itself would take half a minute to find the same fault. */
  async #prepare(): Promise<void> {
    const { weights } = this.#options;
    await this.#cleanUp();
    this.#model ??= await openModel(weights);
    if (this.#model.folder.weightsBytes === 0) {
      throw new ModelFolderError(`${weights} holds no weights (*.safetensors).`);
    }
    const { socketPath } = await this.#host.prepare(this.#model.folder);
    this.#socketPath = socketPath;
    await this.#connection?.close();
    // No deadline here, because the watchdog checks the progress.
    this.#connection = new Connection({ baseUrl: "http://engine", socketPath, silenceMs: 0 });
  }

  #read(line: string): ReturnType<Supervised["read"]> {
    this.#log.append(line);
    return { message: this.#supervisor.state === "ready" ? undefined : readLog(line), isLog: true };
  }

  async #untilServing(signal: AbortSignal): Promise<EngineMetadata> {
    for (;;) {
      await wait(this.#options.timings.watchEveryMs, undefined, { signal });
      const model = this.#model ?? missing("a model");
      const options = { ...this.#options, model, servedName: this.#options.name };
      try {
        const patience = AbortSignal.any([signal, AbortSignal.timeout(5000)]);
        return { ...(await readMetadata(this.#upstream, options, patience)), spareSlots };
      } catch (error) {
        if (signal.aborted) throw error;
      }
    }
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const model = this.#model ?? missing("a model");
    const served = { model, servedName: this.#options.name, upstream: this.#upstream, saltOf: this.#saltOf };
    await expectToken(streamAtOnce((asked) => completionsAdapter.prepare(served, asked, signal), probeRequest));
    this.#host.noteReady();
  }

  /** A frozen engine core still answers everything except token requests. So running answers show if it should be computing. */
  async #status(signal: AbortSignal): Promise<EngineStatus> {
    if (this.#files.takeRestartRequest()) this.#restart();
    const awaited = this.#connected().awaited;
    const { running, waiting, tokens } = readMetrics(await this.#connected().read("/metrics", signal));
    return { running, waiting, computing: awaited, progress: tokens, aborted: 0 };
  }

  /** Not awaited: the watchdog must not wait for the end of the process. */
  #restart(): void {
    this.#log.append("restart requested");
    void this.#supervisor.restartGracefully(() => this.engine.untilIdle(longestStreamMs));
  }

  async #cleanUp(): Promise<void> {
    const found = await this.#host.cleanUp();
    if (found.length > 0) this.#log.append(`cleared what an earlier run had left: ${found.join(", ")}`);
  }

  #connected(): Connection {
    return this.#connection ?? missing("a connection");
  }
}

/** A step of the start is missing, which is a fault in our code. */
function missing(what: string): never {
  throw new Error(`the engine has no ${what} yet`);
}
