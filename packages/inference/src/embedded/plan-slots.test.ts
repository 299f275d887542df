import type { GgufFileInfo } from "node-llama-cpp";
import { describe, expect, test } from "vitest";
import { MemoryBudgetError, planSlots } from "./plan-slots.ts";
import type { ModelSettings } from "./plan-slots.ts";

// The plan reads nothing else of a file's header.
const fileWith = (architectureMetadata: object): GgufFileInfo => ({ architectureMetadata }) as unknown as GgufFileInfo;

const qwen32b = fileWith({
  context_length: 32_768,
  block_count: 64,
  embedding_length: 5120,
  attention: { head_count: 64, head_count_kv: 8, key_length: 128, value_length: 128 },
});
const settings: ModelSettings = {
  file: "m.gguf",
  sha256: undefined,
  contextLength: undefined,
  kvMemoryBytes: 2 ** 33,
  threads: 1,
  promptThreads: 1,
};

describe("slots", () => {
  test.each<[string, GgufFileInfo, Partial<ModelSettings>, object]>([
    [
      "one full context of a large model",
      qwen32b,
      {},
      { slots: 1, kvBytesPerToken: 256 * 1024, contextLength: 32_768 },
    ],
    ["more with a smaller context", qwen32b, { contextLength: 8192 }, { slots: 3, spareSlots: 1, contextLength: 8192 }],
    ["one and a spare one, where two fit", qwen32b, { contextLength: 16_384 }, { slots: 1, spareSlots: 1 }],
    ["no spare one, where one fits", qwen32b, {}, { slots: 1, spareSlots: 0 }],
    ["never more than 8", qwen32b, { contextLength: 512 }, { slots: 8, spareSlots: 1 }],
    [
      "heads without a size of their own",
      fileWith({ context_length: 1024, block_count: 2, embedding_length: 64, attention: { head_count: 4 } }),
      {},
      { kvBytesPerToken: 2 * 4 * (16 + 16) * 2 },
    ],
    [
      "another number of heads in every layer",
      fileWith({
        context_length: 1024,
        block_count: 2,
        embedding_length: 64,
        attention: { head_count: [4, 8], head_count_kv: [1, 2] },
      }),
      {},
      { kvBytesPerToken: 2 * 2 * (8 + 8) * 2 },
    ],
  ])("%s", (_title, file, changes, want) => {
    expect(planSlots(file, { ...settings, ...changes })).toMatchObject(want);
  });

  test.each<[string, number, number, number[]]>([
    ["small sequences, which can move, begin small", 2, 32_768, [2047, 8191, 32_768]],
    ["a context below the steps is the only one", 2, 1024, [1024]],
    ["large sequences have their full size from the start", 64, 32_768, [32_768]],
  ])("grow: %s", (_title, layers, contextLength, steps) => {
    const metadata = { ...qwen32b.architectureMetadata, block_count: layers };
    expect(planSlots(fileWith(metadata), { ...settings, contextLength }).steps).toEqual(steps);
  });

  test("come with the arithmetic that explains them", () => {
    expect(planSlots(qwen32b, settings).explanation).toBe(
      "1 slots: 32768 tokens × 262144 bytes = 8192 MB per slot, budget 8192 MB",
    );
    expect(planSlots(qwen32b, { ...settings, contextLength: 8192 }).explanation).toMatch(/^3 slots and a spare one: /);
  });

  test("that do not fit are refused, and the message says which settings to change", () => {
    const tooLittle = (): unknown => planSlots(qwen32b, { ...settings, kvMemoryBytes: 2 ** 30 });
    expect(tooLittle).toThrow(MemoryBudgetError);
    expect(tooLittle).toThrow(
      /= 8192 MB per slot, and the budget is 1024 MB. Raise PARLEY_KV_MEMORY_MB to at least 8192/,
    );
  });

  test.each([
    ["says nothing of its shape", {}],
    ["has no attention", { context_length: 512, block_count: 2, embedding_length: 64 }],
    ["has no context", { block_count: 2, embedding_length: 64, attention: { head_count: 4 } }],
  ])("a file that %s is not a language model", (_title, metadata) => {
    expect(() => planSlots(fileWith(metadata), settings)).toThrow("it is not a language model");
  });
});
