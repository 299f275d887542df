import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { respell, truncate } from "../../../test/change-model-file.ts";
import { miniModelFile } from "../../../test/start-engines.ts";
import { ModelFileError, checkModelFile } from "./check-model-file.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "model.gguf");
const faultOf = (sha256?: string): Promise<unknown> =>
  checkModelFile(path, sha256).then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a model file is refused with a sentence", () => {
  test.each([
    ["it is missing", () => rmSync(path, { force: true }), "is missing: restore it, or name another one."],
    ["it is empty", () => writeFileSync(path, ""), 'is not a GGUF file (it begins with "")'],
    [
      "it is of another format",
      () => writeFileSync(path, "PK\u0003\u0004 and so on"),
      "convert the model to GGUF or name another file.",
    ],
    ["only its mark is left", () => truncate(path, () => 4), "is truncated at 4 bytes"],
    ["its header is cut", () => truncate(path, () => 30_000), "is truncated at 30000 bytes: copy it again."],
    ["its tensors are cut", () => truncate(path, (size) => size / 2), "is truncated at"],
    [
      "its header makes no sense",
      () => writeFileSync(path, Buffer.concat([Buffer.from("GGUF\u0003\0\0\0"), Buffer.alloc(64, 0xff)])),
      "cannot be loaded",
    ],
    [
      "it has no chat template",
      () => respell(path, { "tokenizer.chat_template": "tokenizer.spat_template" }),
      "holds no chat model",
    ],
  ])("%s", async (_title, prepare, want) => {
    prepare();
    const fault = await faultOf();
    expect(fault).toBeInstanceOf(ModelFileError);
    expect(String(fault)).toContain(path);
    expect(String(fault)).toContain(want);
  });

  test("it is not the one that was recorded", async () => {
    respell(path, {});
    const recorded = createHash("sha256").update(readFileSync(miniModelFile)).digest("hex");
    expect(await faultOf(recorded)).toBeUndefined();
    respell(path, { "<think>": "<thinK>" });
    expect(String(await faultOf(recorded))).toContain("is damaged: its SHA-256 is not the recorded one");
    expect(await faultOf()).toBeUndefined();
  });
});
