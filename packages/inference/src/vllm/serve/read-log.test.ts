import { expect, test } from "vitest";
import { readLog } from "./read-log.ts";

test.each([
  ["vllm serve: error: unrecognized arguments: --x 1", "This version of vLLM does not know --x 1."],
  ["vllm serve: error: argument --dtype: invalid choice", "vLLM refuses an argument: --dtype: invalid choice"],
  [
    "  Value error, The checkpoint you are trying to load has model type `odd` but Transformers does not recognize it.",
    "vLLM cannot run models of the type odd.",
  ],
  [
    "  Value error, User-specified max_model_len is too large",
    "vLLM refuses its configuration: User-specified max_model_len is too large",
  ],
])("%s: fatal", (line, message) => {
  expect(readLog(line)).toEqual({ status: "fatal", message });
});

test.each(["INFO 11-21 [core.py:1] something", "WARNING: error-prone", ""])("%s: nothing", (line) => {
  expect(readLog(line)).toBeUndefined();
});

test("a full disk is not fatal", () => {
  expect(readLog("OSError: [Errno 28] No space left on device")).toMatchObject({ status: "failing" });
});

test("steps of loading are progress", () => {
  expect(readLog("INFO Starting to load model /weights...")).toMatchObject({ status: "loading", share: 0.2 });
});
