import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import {
  loadPino,
  loadPromClient,
  loadUndici,
  openEventParser,
  openLedger,
  openTemplate,
  openTokenizer,
} from "../libraries.ts";
import type { AnswerHandler, Message } from "../libraries.ts";

/**
 * A gateway that does the work of a request with Parley's libraries, in the plainest way:
 * `libraries-server.ts ENGINE PORT MODEL_FOLDER DATA_FOLDER`. It hashes the key, parses the body, renders the prompt and counts its
 * tokens, opens an entry in SQLite, asks the engine for a stream, parses its events, writes events of its own, closes the entry
 * with the usage, and writes a log line and the metrics. It checks nothing, and has no limits, queue, time-outs or errors.
 */

const [engine = "", port = "", modelFolder = "", dataFolder = ""] = process.argv.slice(2);

const render = openTemplate(modelFolder);
const countTokens = openTokenizer(modelFolder);
const { Agent } = loadUndici();
const agent = new Agent({ connections: null, pipelining: 1 });
const pino = loadPino();
const log = pino({ base: null }, pino.destination({ dest: join(dataFolder, "log"), sync: false, minLength: 4096 }));
const { Counter, Histogram } = loadPromClient();
const requests = new Counter({ name: "requests", help: "Requests.", labelNames: ["model", "status"] });
const tokens = new Counter({ name: "tokens", help: "Tokens.", labelNames: ["model", "kind"] });
const durations = new Histogram({ name: "durations", help: "Durations.", labelNames: ["model"] });

const ledger = openLedger(dataFolder);

interface Write {
  readonly change: () => void;
  readonly onWritten: () => void;
}

let writes: Write[] = [];

/** Writes all changes of one round of the event loop in one transaction. */
function write(change: () => void, onWritten: () => void): void {
  if (writes.length === 0) setImmediate(commit);
  writes.push({ change, onWritten });
}

function commit(): void {
  const all = writes;
  writes = [];
  ledger.begin();
  for (const { change } of all) change();
  ledger.commit();
  for (const { onWritten } of all) onWritten();
}

interface Asked {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly stream?: boolean;
}

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** The members of the engine's event that are read. */
interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Usage;
}

/** One request and its answer, for undici to report to. */
class Exchange implements AnswerHandler {
  readonly #response: ServerResponse;
  readonly #asked: Asked;
  readonly #key: string;
  readonly #startedMs = Date.now();
  readonly #id = randomUUID();
  readonly #head: object;
  readonly #decoder = new TextDecoder();
  readonly #parser = openEventParser((data) => this.#read(data));
  #usage: Usage;
  #content = "";
  #finish: string | null = null;
  #waiting = "";

  constructor({ headers }: IncomingMessage, response: ServerResponse, body: string) {
    this.#response = response;
    this.#key = createHash("sha256")
      .update(headers.authorization ?? "")
      .digest("hex");
    this.#asked = JSON.parse(body) as Asked; // the load sends it
    const { model, messages } = this.#asked;
    const prompt = countTokens(render(messages));
    this.#usage = { prompt_tokens: prompt, completion_tokens: 0, total_tokens: prompt };
    this.#head = { id: this.#id, created: Math.floor(this.#startedMs / 1000), model };
  }

  begin(): void {
    write(
      () => ledger.open(this.#id, this.#key, this.#startedMs),
      () => this.#ask(),
    );
  }

  #ask(): void {
    const options = { stream: true, stream_options: { include_usage: true, continuous_usage_stats: true } };
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ ...this.#asked, ...options });
    agent.dispatch({ origin: engine, path: "/v1/chat/completions", method: "POST", headers, body }, this);
  }

  onRequestStart(controller: { abort(reason: Error): void }): void {
    this.#response.on("close", () => controller.abort(new Error("gone")));
  }

  onResponseStart(): void {
    if (this.#asked.stream) this.#response.writeHead(200, { "content-type": "text/event-stream" });
  }

  onResponseData(_controller: unknown, bytes: Buffer): void {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    if (this.#waiting !== "") this.#response.write(this.#waiting);
    this.#waiting = "";
  }

  #read(data: string): void {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data) as Chunk; // the engine writes it
    this.#usage = chunk.usage ?? this.#usage;
    const [choice] = chunk.choices;
    if (!choice) return;
    this.#finish = choice.finish_reason;
    const event = { ...this.#head, object: "chat.completion.chunk", choices: [choice] };
    if (this.#asked.stream) this.#waiting += `data: ${JSON.stringify(event)}\n\n`;
    else this.#content += choice.delta.content ?? "";
  }

  onResponseEnd(): void {
    const { prompt_tokens: prompt, completion_tokens: completion } = this.#usage;
    this.#note();
    write(
      () => ledger.close(this.#id, this.#key, Date.now(), { prompt, completion }),
      () => this.#end(),
    );
  }

  onResponseError(): void {
    this.#response.destroy();
  }

  #note(): void {
    const { model } = this.#asked;
    const { prompt_tokens, completion_tokens } = this.#usage;
    const durationMs = Date.now() - this.#startedMs;
    log.info({ id: this.#id, key: this.#key, model, ...this.#usage, duration_ms: durationMs }, "request");
    requests.inc({ model, status: 200 });
    tokens.inc({ model, kind: "prompt" }, prompt_tokens);
    tokens.inc({ model, kind: "completion" }, completion_tokens);
    durations.observe({ model }, durationMs / 1000);
  }

  #end(): void {
    if (this.#asked.stream) return void this.#response.end(`${this.#waiting}data: [DONE]\n\n`);
    const message = { role: "assistant", content: this.#content };
    const choices = [{ index: 0, message, finish_reason: this.#finish }];
    const json = JSON.stringify({ ...this.#head, object: "chat.completion", choices, usage: this.#usage });
    const length = Buffer.byteLength(json);
    this.#response.writeHead(200, { "content-type": "application/json", "content-length": length }).end(json);
  }
}

const server = createServer((request, response) => {
  if (request.method === "GET") return void response.end("ok");
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => new Exchange(request, response, Buffer.concat(chunks).toString()).begin());
});
server.listen({ host: "127.0.0.1", port: Number(port), backlog: 16_384 });
