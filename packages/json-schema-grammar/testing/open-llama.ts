import { LlamaLogLevel, getLlama } from "node-llama-cpp";
import type { Llama } from "node-llama-cpp";

/** Opens llama.cpp on one thread, without a GPU, and without building or downloading anything. */
export const openLlama = (): Promise<Llama> =>
  getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    maxThreads: 1,
    logLevel: LlamaLogLevel.error,
  });
