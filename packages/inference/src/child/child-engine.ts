import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EngineError } from "../engine.ts";
import type {
  Engine,
  EngineMetadata,
  EngineGauges,
  EngineRequest,
  EngineState,
  PreparedPrompt,
  RenderedRequest,
} from "../engine.ts";
import { expectToken, probeRequest } from "../probe.ts";
import { FairQueue } from "@parley/common/fair-queue";
import { transform } from "../wire/transform.ts";
import { assertFits, preparedTooLong } from "../answer/assert-fits.ts";
import { charactersIn } from "../prompt/characters-in.ts";
import { handOver, withoutMessages } from "../prompt/hand-over.ts";
import { PromptTooLongError } from "../prompt/prompt-too-long.ts";
import { asStall } from "../supervision/as-stall.ts";
import { confirmFailure } from "../supervision/confirm-failure.ts";
import type { Confirming } from "../supervision/confirm-failure.ts";
import { EngineProcess } from "../supervision/engine-process.ts";
import type { EngineStatus, StatusMessage } from "../supervision/status.ts";
import { Supervisor } from "../supervision/supervisor.ts";
import type { SupervisorReport } from "../supervision/supervised.ts";
import { Workload } from "../supervision/workload.ts";
import type { Timings } from "../supervision/timings.ts";
import { ChildConnection } from "./connect.ts";
import type { ChildPrompt } from "./connect.ts";
import { parseStatusMessage } from "./protocol.ts";

/** The place of an engine process. */
export interface EnginePlace {
  /** The model id, for messages. */
  readonly name: string;
  /** An existing folder with a short path: the path of a unix socket may have at most 107 bytes. */
  readonly runFolder: string;
}

export interface ChildEngineOptions extends EnginePlace {
  /** The program of the child and its arguments, given the socket that it must listen on. */
  readonly command: (socketPath: string) => { readonly command: string; readonly args: readonly string[] };
  readonly timings: Timings;
  readonly report: (event: SupervisorReport) => void;
}

/** Requests with more text than this are sent one at a time, because sending takes several times their size in memory. */
const longCharacters = 256 * 1024;

/** Knows the state of an engine process, and can check whether it works. */
export interface ProcessState extends Confirming {
  readonly state: EngineState;
  readonly reason: string;
  readonly metadata: EngineMetadata | undefined;
  readonly restarts: number;
  /** True from the end of a process that made no progress until the next one starts. */
  readonly isStalled: boolean;
  whenReady(): Promise<void>;
}

/** An engine in a process that another process of the server supervises. Closing it only closes its connections. */
export class ConnectedEngine implements Engine {
  protected readonly socketPath: string;
  protected readonly connection: ChildConnection;
  protected readonly workload = new Workload();
  readonly #process: () => ProcessState;
  /** Renders long prompts one at a time. */
  readonly #longPrompts = new FairQueue(1);

  /** @throws {RangeError} when the path of the socket would be too long */
  constructor(place: EnginePlace, process: () => ProcessState) {
    this.socketPath = socketPathFor(place);
    this.connection = new ChildConnection(this.socketPath);
    this.#process = process;
  }

  get state(): EngineState {
    return this.#process().state;
  }

  get stateReason(): string {
    return this.#process().reason;
  }

  get metadata(): EngineMetadata | undefined {
    return this.#process().metadata;
  }

  async prepare(request: EngineRequest, signal: AbortSignal): Promise<PreparedPrompt> {
    this.#assertReady();
    try {
      return this.#prepared(await this.#render(request, signal), withoutMessages(request), signal);
    } catch (error) {
      if (error instanceof PromptTooLongError) return preparedTooLong(error);
      throw asStall(error, this.#process().isStalled);
    }
  }

  #render(request: EngineRequest, signal: AbortSignal): Promise<ChildPrompt> {
    const render = (): Promise<ChildPrompt> => this.connection.prepare(request, signal);
    const cost = charactersIn(request.messages) + charactersIn(request.tools);
    if (cost < longCharacters) return render();
    return this.#longPrompts.run({ keyId: request.origin?.key ?? "", cost }, signal, render);
  }

  #prepared({ tokens, text }: ChildPrompt, request: RenderedRequest, signal: AbortSignal): PreparedPrompt {
    const takeText = handOver(text);
    return {
      tokens,
      stream: ({ maxTokens, grammars }) =>
        transform(() => {
          this.#assertReady();
          assertFits(tokens, maxTokens, this.metadata?.contextLength);
          return {
            source: this.connection.generate({ ...request, maxTokens, grammars }, takeText, signal),
            transform: (events) => events,
            onEnd: this.workload.begin(request.n),
            explain: async (failure) => {
              if (!signal.aborted) await confirmFailure(failure, this.#process());
              return asStall(failure, this.#process().isStalled);
            },
          };
        }),
    };
  }

  gauges(): EngineGauges {
    const { running, aborted } = this.workload;
    return { running, restarts: this.#process().restarts, aborted, ejected: 0 };
  }

  whenReady(): Promise<void> {
    return this.#process().whenReady();
  }

  async close(graceMs: number): Promise<void> {
    await this.workload.untilIdle(graceMs);
    this.connection.close();
  }

  #assertReady(): void {
    if (this.state !== "ready") throw new EngineError("unavailable", `the engine is ${this.state}`);
  }
}

/** An engine in a child process of the server. `embedded` and `scripted` differ only in the program that they start. */
export class ChildEngine extends ConnectedEngine {
  readonly #supervisor: Supervisor;

  /** @throws {RangeError} when the path of the socket would be too long */
  constructor(options: ChildEngineOptions) {
    super(options, () => this.#supervisor);
    this.#supervisor = new Supervisor({
      name: options.name,
      launch: (onLogLine) => new EngineProcess({ ...options.command(this.socketPath), endsBy: "input" }, onLogLine),
      read: readLine,
      timings: options.timings,
      prepare: () => rm(this.socketPath, { force: true }),
      probe: (signal) => this.#probe(signal),
      status: (signal) => this.connection.status(signal),
      report: options.report,
      random: Math.random,
    });
  }

  start(): void {
    this.#supervisor.start();
  }

  /** The running process, for an operator or a test that kills it. */
  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  /** The last 200 lines that its processes wrote. They show why one died. */
  get logLines(): readonly string[] {
    return this.#supervisor.logLines;
  }

  /** Checks if the process works, after a request of another process of the server has failed. */
  confirmFailure(): Promise<void> {
    return this.#supervisor.confirmFailure();
  }

  /** True from the end of a process that made no progress until the next one starts. */
  get isStalled(): boolean {
    return this.#supervisor.isStalled;
  }

  /** Returns the current work of the process. @throws {EngineError} */
  status(signal: AbortSignal): Promise<EngineStatus> {
    return this.connection.status(signal);
  }

  /** Refuses new work, lets running streams finish for at most the grace period, then ends the process. */
  override async close(graceMs: number): Promise<void> {
    this.#supervisor.drain();
    await this.workload.untilIdle(graceMs);
    await this.#supervisor.close(graceMs);
    this.connection.close();
    await rm(this.socketPath, { force: true });
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const prompt = await this.connection.prepare(probeRequest, signal);
    await expectToken(this.connection.generate(probeRequest, handOver(prompt.text), signal));
  }
}

function readLine(line: string): { message: StatusMessage | undefined; isLog: boolean } {
  const message = parseStatusMessage(line);
  return { message, isLog: message === undefined };
}

const longestSocketPath = 107;

/** A short file name that is different for every model id. */
function socketPathFor({ name, runFolder }: EnginePlace): string {
  const path = join(runFolder, `${createHash("sha256").update(name).digest("hex").slice(0, 12)}.sock`);
  if (Buffer.byteLength(path) <= longestSocketPath) return path;
  throw new RangeError(
    `${path}: a unix socket's path may have ${longestSocketPath} bytes: choose a shorter run folder.`,
  );
}
