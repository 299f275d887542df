import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildNative } from "./build.ts";

/** Pace of all answers that begin from now on. */
export interface Pace {
  /** Milliseconds between two tokens; 0: an answer comes at once. */
  readonly intervalMs: number;
  /** A stream sends nothing after its first token. */
  readonly isSilent?: boolean;
}

/** Counters of the engine since its start. */
export interface EngineCounters {
  readonly open: number;
  readonly answers: number;
  readonly completed: number;
  readonly aborted: number;
}

/** A simulated vLLM: it serves its two routes, and writes the same words to every caller. */
export interface SimulatedEngine extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Returns the text of an answer of `tokens` tokens. */
  text(tokens: number): string;
  setPace(pace: Pace): Promise<void>;
  counters(): Promise<EngineCounters>;
}

interface EngineOptions {
  readonly model: string;
  /** Folder of the model whose tokenizer gives the words their ids. */
  readonly tokenizer: string;
  /** Folder for the list of words. */
  readonly folder: string;
}

export async function startEngine({ model, tokenizer, folder }: EngineOptions): Promise<SimulatedEngine> {
  const words = wordsOf(tokenizer);
  const file = join(folder, "words.txt");
  writeFileSync(file, words.map(({ id, text }) => `${id} ${text}\n`).join(""));
  const child = spawn(buildNative("engine"), ["--model", model, "--words", file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string]; // its port
  const url = `http://127.0.0.1:${line}`;
  const control = async (query: string): Promise<EngineCounters> =>
    (await (await fetch(`${url}/control?${query}`, { method: "POST" })).json()) as EngineCounters; // as engine.c writes it
  return {
    url,
    port: Number(line),
    pid: child.pid ?? 0,
    text: (tokens) => Array.from({ length: tokens }, (_, at) => words[at % words.length]?.text ?? "").join(""),
    setPace: async ({ intervalMs, isSilent = false }) => {
      await control(`interval_us=${Math.round(intervalMs * 1000)}&silent=${isSilent ? 1 : 0}`);
    },
    counters: () => control(""),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await ended;
    },
  };
}

interface Word {
  readonly id: number;
  readonly text: string;
}

/** Finds the words of the vocabulary that need no escaping: a blank and letters. */
function wordsOf(tokenizer: string): Word[] {
  const file = JSON.parse(readFileSync(join(tokenizer, "tokenizer.json"), "utf8")) as {
    readonly model: { readonly vocab: Readonly<Record<string, number>> };
  }; // the form of Hugging Face's tokenizers; `Ġ` stands for a blank
  return Object.entries(file.model.vocab)
    .filter(([name]) => /^Ġ[a-z]{2,}$/.test(name))
    .map(([name, id]) => ({ id, text: name.replace("Ġ", " ") }))
    .toSorted((a, b) => a.id - b.id)
    .slice(0, 97);
}
