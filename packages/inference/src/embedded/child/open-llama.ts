import { LlamaLogLevel, getLlama, readGgufFileInfo } from "node-llama-cpp";
import type { GgufFileInfo, Llama } from "node-llama-cpp";

/** Opens node-llama-cpp without a GPU, without building or downloading anything, and with the given number of threads. */
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

/** Reads the header of a GGUF file, including the vocabulary and the list of tensors. */
export const readModelFile = (path: string): Promise<GgufFileInfo> =>
  readGgufFileInfo(path, { sourceType: "filesystem", logWarnings: false });
