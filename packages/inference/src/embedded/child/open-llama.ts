import { LlamaLogLevel, getLlama, readGgufFileInfo } from "node-llama-cpp";
import type { GgufFileInfo, Llama } from "node-llama-cpp";

/** node-llama-cpp as this project wants it: no GPU, nothing built, nothing downloaded, as many threads as told. */
export const openLlama = (threads: number, onError?: (message: string) => void): Promise<Llama> =>
  getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    maxThreads: threads,
    logLevel: LlamaLogLevel.error,
    ...(onError && { logger: (_level: LlamaLogLevel, message: string) => onError(message.trim()) }),
  });

/** The header of a GGUF file, vocabulary and list of tensors included. */
export const readModelFile = (path: string): Promise<GgufFileInfo> =>
  readGgufFileInfo(path, { sourceType: "filesystem", logWarnings: false });
