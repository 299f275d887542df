import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { IncomingHttpHeaders } from "node:http";

/** The libraries that Parley uses, loaded without any of Parley's code, and the members of them that the benchmarks call. */

/** The members of pino. */
interface Pino {
  (options: object, file: unknown): { info(fields: object, text: string): void };
  destination(options: object): unknown;
}

/** The members of prom-client. */
interface PromClient {
  readonly Counter: new (options: object) => { inc(labels: object, by?: number): void };
  readonly Histogram: new (options: object) => { observe(labels: object, value: number): void };
}

/** What undici calls for one answer. */
export interface AnswerHandler {
  onRequestStart(controller: { abort(reason: Error): void }): void;
  onResponseStart(controller: unknown, status: number, headers: IncomingHttpHeaders): void;
  onResponseData(controller: unknown, bytes: Buffer): void;
  onResponseEnd(): void;
  onResponseError(controller: unknown, error: Error): void;
}

/** The members of undici. */
interface Undici {
  readonly Agent: new (options: object) => {
    dispatch(request: object, handler: AnswerHandler): boolean;
  };
}

const ofServer = createRequire(new URL("../packages/server/package.json", import.meta.url));
const ofInference = createRequire(new URL("../packages/inference/package.json", import.meta.url));

export interface Message {
  readonly role: string;
  readonly content: string;
}

export const loadPino = (): Pino => (ofServer("pino") as { readonly pino: Pino }).pino;

export const loadPromClient = (): PromClient => ofServer("prom-client") as PromClient;

export const loadUndici = (): Undici => ofInference("undici") as Undici;

/** @returns what calls `onData` with the data of each event in the text that it is fed with */
export function openEventParser(onData: (data: string) => void): { feed(text: string): void } {
  const { createParser } = ofInference("eventsource-parser") as {
    readonly createParser: (handlers: { readonly onEvent: (event: { readonly data: string }) => void }) => {
      feed(text: string): void;
    };
  };
  return createParser({ onEvent: ({ data }) => onData(data) });
}

/** @param folder that of a model @returns what renders a conversation by the model's chat template */
export function openTemplate(folder: string): (messages: readonly Message[]) => string {
  const { Template } = ofInference("@huggingface/jinja") as {
    readonly Template: new (text: string) => { render(values: object): string };
  };
  const { chat_template } = readJson(folder, "tokenizer_config.json") as { readonly chat_template: string };
  const template = new Template(chat_template);
  return (messages) =>
    template.render({ messages, tools: undefined, add_generation_prompt: true, enable_thinking: false });
}

/** @param folder that of a model @returns what counts the tokens of a text */
export function openTokenizer(folder: string): (text: string) => number {
  const { Tokenizer } = ofInference("@huggingface/tokenizers") as {
    readonly Tokenizer: new (
      file: unknown,
      config: unknown,
    ) => { encode(text: string, options: object): { readonly ids: readonly number[] } };
  };
  const tokenizer = new Tokenizer(readJson(folder, "tokenizer.json"), readJson(folder, "tokenizer_config.json"));
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
}

const readJson = (folder: string, file: string): unknown => JSON.parse(readFileSync(join(folder, file), "utf8"));
