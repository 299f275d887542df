import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { IncomingHttpHeaders } from "node:http";

/** Loads the libraries that Parley uses, without any code of Parley. */

/** The part of pino that the benchmarks use. */
interface Pino {
  (options: object, file: unknown): { info(fields: object, text: string): void };
  destination(options: object): unknown;
}

/** The part of prom-client that the benchmarks use. */
interface PromClient {
  readonly Counter: new (options: object) => { inc(labels: object, by?: number): void };
  readonly Histogram: new (options: object) => { observe(labels: object, value: number): void };
}

/** The methods that undici calls while it receives an answer. */
export interface AnswerHandler {
  onRequestStart(controller: { abort(reason: Error): void }): void;
  onResponseStart(controller: unknown, status: number, headers: IncomingHttpHeaders): void;
  onResponseData(controller: unknown, bytes: Buffer): void;
  onResponseEnd(): void;
  onResponseError(controller: unknown, error: Error): void;
}

/** The part of undici that the benchmarks use. */
interface Undici {
  readonly Agent: new (options: object) => {
    dispatch(request: object, handler: AnswerHandler): boolean;
  };
}

const requireForServer = createRequire(new URL("../packages/server/package.json", import.meta.url));
const requireForInference = createRequire(new URL("../packages/inference/package.json", import.meta.url));

export interface Message {
  readonly role: string;
  readonly content: string;
}

export const loadPino = (): Pino => (requireForServer("pino") as { readonly pino: Pino }).pino;

export const loadPromClient = (): PromClient => requireForServer("prom-client") as PromClient;

export const loadUndici = (): Undici => requireForInference("undici") as Undici;

/** @returns a parser. It calls `onData` with the data of each event that is complete in the text so far */
export function openEventParser(onData: (data: string) => void): { feed(text: string): void } {
  const { createParser } = requireForInference("eventsource-parser") as {
    readonly createParser: (handlers: { readonly onEvent: (event: { readonly data: string }) => void }) => {
      feed(text: string): void;
    };
  };
  return createParser({ onEvent: ({ data }) => onData(data) });
}

/** @param folder of a model @returns a function that renders a conversation with the chat template of the model */
export function openTemplate(folder: string): (messages: readonly Message[]) => string {
  const { Template } = requireForInference("@huggingface/jinja") as {
    readonly Template: new (text: string) => { render(values: object): string };
  };
  const { chat_template } = readJson(folder, "tokenizer_config.json") as { readonly chat_template: string };
  const template = new Template(chat_template);
  return (messages) =>
    template.render({ messages, tools: undefined, add_generation_prompt: true, enable_thinking: false });
}

/** @param folder of a model @returns a function that counts the tokens of a text */
export function openTokenizer(folder: string): (text: string) => number {
  const { Tokenizer } = requireForInference("@huggingface/tokenizers") as {
    readonly Tokenizer: new (
      file: unknown,
      config: unknown,
    ) => { encode(text: string, options: object): { readonly ids: readonly number[] } };
  };
  const tokenizer = new Tokenizer(readJson(folder, "tokenizer.json"), readJson(folder, "tokenizer_config.json"));
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
}

/** Ledger in SQLite: an entry per request, and the usage of each key. */
export interface LibraryLedger {
  begin(): void;
  commit(): void;
  open(id: string, key: string, startedMs: number): void;
  close(id: string, key: string, endedMs: number, used: { readonly prompt: number; readonly completion: number }): void;
}

/** @param folder for its files */
export function openLedger(folder: string): LibraryLedger {
  const database = new DatabaseSync(join(folder, "ledger.sqlite"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  database.exec(
    `CREATE TABLE requests
     (id TEXT PRIMARY KEY, key TEXT, started INTEGER, ended INTEGER, prompt INTEGER, completion INTEGER)`,
  );
  database.exec("CREATE TABLE spending (key TEXT PRIMARY KEY, tokens INTEGER)");
  const open = database.prepare("INSERT INTO requests VALUES (?, ?, ?, NULL, 0, 0)");
  const close = database.prepare("UPDATE requests SET ended = ?, prompt = ?, completion = ? WHERE id = ?");
  const spend = database.prepare(
    "INSERT INTO spending VALUES (?, ?) ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens",
  );
  return {
    begin: () => database.exec("BEGIN"),
    commit: () => database.exec("COMMIT"),
    open: (id, key, startedMs) => void open.run(id, key, startedMs),
    close: (id, key, endedMs, { prompt, completion }) => {
      close.run(endedMs, prompt, completion, id);
      spend.run(key, prompt + completion);
    },
  };
}

const readJson = (folder: string, file: string): unknown => JSON.parse(readFileSync(join(folder, file), "utf8"));
