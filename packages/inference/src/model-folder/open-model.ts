import { setTimeout as wait } from "node:timers/promises";
import type { OutputToken } from "../engine.ts";
import { PromptThreads } from "../prompt/prompt-threads.ts";
import { describeWith } from "../prompt/vocabulary.ts";
import { readModelFolder } from "./model-folder.ts";
import type { ModelFolder } from "./model-folder.ts";

/** A token of a model, described for readers of its answers. */
export interface TokenReader {
  readonly describe: (token: number) => OutputToken;
  isEndOfTurn(token: number): boolean;
  /** True for a token that is not plain text, such as `<tool_call>`. */
  isSpecialToken(token: number): boolean;
}

/** The parts of a model that the server itself uses: its files, prompts and tokens. */
export interface OpenModel extends TokenReader {
  readonly folder: ModelFolder;
  readonly prompts: PromptThreads;
}

/**
 * Time for a starting server to answer `/health` first: loading a tokenizer blocks the event loop for some hundredths of a
 * second.
 */
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
