import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { miniFolder } from "../../testing/start-scripted-vllm.ts";
import { readModelFolder } from "./model-folder.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The mini model's folder with one thing changed. */
function changed(name: string, change: (copy: string) => void): string {
  const copy = join(folder, name);
  cpSync(miniFolder, copy, { recursive: true });
  change(copy);
  return copy;
}

const write = (file: string, value: unknown) => (copy: string) =>
  writeFileSync(join(copy, file), JSON.stringify(value));
/** The ids of the special tokens, as the mini model's tokenizer.json lists them. */
const { added_tokens } = JSON.parse(readFileSync(join(miniFolder, "tokenizer.json"), "utf8")) as {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}; // the training wrote it
const idOf = (spelling: string): number => added_tokens.find(({ content }) => content === spelling)?.id ?? -1;
const remove = (file: string) => (copy: string) => rmSync(join(copy, file));

test("reads the properties of a model from its files", () => {
  const model = readModelFolder(miniFolder);
  expect(model).toMatchObject({
    endOfTurn: [idOf("<|im_end|>"), idOf("<|endoftext|>")],
    eosToken: "<|im_end|>",
    declaredContext: 32_768,
    quantization: "bf16",
    capabilities: { canReason: true, canCallTools: true },
  });
  expect(model.weightsBytes).toBeGreaterThan(1e6);
  expect(model.vocabulary.specialTokenId("<tool_call>")).toBe(idOf("<tool_call>"));
  expect(model.vocabulary.bytesOf(idOf("<|im_end|>"))).toEqual([]);
  expect(Buffer.from(model.vocabulary.bytesOf(idOf("<tool_call>"))).toString()).toBe("<tool_call>");
});

test("a tokenizer alone has no weights", () => {
  const path = changed("tokenizer", (copy) =>
    ["model.safetensors", "config.json", "generation_config.json"].forEach((file) => remove(file)(copy)),
  );
  expect(readModelFolder(path)).toMatchObject({
    weightsBytes: 0,
    endOfTurn: [idOf("<|im_end|>")],
    declaredContext: undefined,
  });
});

test("a template file takes precedence, and of several templates the one named `default` is used", () => {
  const file = changed("file", (copy) => writeFileSync(join(copy, "chat_template.jinja"), "own"));
  expect(readModelFolder(file).template).toBe("own");
  const templates = [
    { name: "rag", template: "a" },
    { name: "default", template: "b" },
  ];
  const list = changed(
    "list",
    write("tokenizer_config.json", { chat_template: templates, eos_token: { content: "<|im_end|>" } }),
  );
  expect(readModelFolder(list)).toMatchObject({ template: "b", eosToken: "<|im_end|>" });
});

test("different weights have a different identity", () => {
  const path = changed("other", (copy) => writeFileSync(join(copy, "model.safetensors"), "x"));
  expect(readModelFolder(path).weightsId).not.toBe(readModelFolder(miniFolder).weightsId);
});

test.each<[string, () => string, RegExp]>([
  ["no folder", () => "/nonexistent/weights", /^The folder \/nonexistent\/weights is missing\.$/],
  ["no tokenizer", () => changed("a", remove("tokenizer.json")), /has no tokenizer\.json/],
  [
    "a damaged tokenizer",
    () => changed("b", (copy) => writeFileSync(join(copy, "tokenizer.json"), "{")),
    /tokenizer\.json is damaged/,
  ],
  [
    "no template",
    () => changed("c", write("tokenizer_config.json", {})),
    /has no chat template: it is not a chat model/,
  ],
  [
    "no end of a turn",
    () =>
      changed("d", (copy) => {
        write("tokenizer_config.json", { chat_template: "x" })(copy);
        write("config.json", {})(copy);
        write("generation_config.json", {})(copy);
      }),
    /does not say which token ends a turn/,
  ],
])("%s: a sentence", (_title, path, why) => {
  expect(() => readModelFolder(path())).toThrow(why);
});
