import { setTimeout as wait } from "node:timers/promises";
import type { OutputToken } from "../engine.ts";
import { PromptThreads } from "../prompt/prompt-threads.ts";
import { describeWith } from "../prompt/vocabulary.ts";
import { readModelFolder } from "./model-folder.ts";
import type { ModelFolder } from "./model-folder.ts";

/** What a token of a model means. */
export interface TokenReader {
  readonly describe: (token: number) => OutputToken;
  isEndOfTurn(token: number): boolean;
  /** Whether it is more than text, as `<tool_call>` is. */
  isSpecialToken(token: number): boolean;
}

/** A model as far as we know it ourselves: its files, its prompts, its tokens. */
export interface OpenModel extends TokenReader {
  readonly folder: ModelFolder;
  readonly prompts: PromptThreads;
}

/** Loading a tokenizer keeps the event loop busy for some hundredths of a second. A server that starts answers `/health` before that. */
const headStartMs = 20;

/** @throws {ModelFolderError} */
export async function openModel(path: string): Promise<OpenModel> {
  await wait(headStartMs);
  const { openRenderer } = await import("./open-renderer.ts");
  const folder = readModelFolder(path);
  const program = new URL("./prompt-worker.ts", import.meta.url);
  const prompts = await PromptThreads.start({ program, model: path, here: openRenderer(folder) });
  const { vocabulary, endOfTurn } = folder;
  const specialTokenIds = new Set(vocabulary.specialTokenIds);
  return {
    folder,
    prompts,
    describe: describeWith(vocabulary),
    isEndOfTurn: (token) => endOfTurn.includes(token),
    isSpecialToken: (token) => specialTokenIds.has(token),
  };
}
