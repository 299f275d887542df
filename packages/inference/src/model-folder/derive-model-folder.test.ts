import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { truncateSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deriveModelFolder } from "./derive-model-folder.ts";
import { ModelFolderError, readModelFolder } from "./model-folder.ts";

const demo = fileURLToPath(new URL("../../../../demo-models", import.meta.url));
const hashes = JSON.parse(readFileSync(join(demo, "hashes.json"), "utf8")) as Record<string, { sha256: string }>; // as the export writes it
const names = ["model-1", "model-1-mini"] as const;
const hashOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const settingsOf = (name: (typeof names)[number], target: string) => ({
  source: join(demo, name),
  gguf: `${name}.bf16.gguf`,
  sha256: hashes[`${name}/model.safetensors`]?.sha256 ?? "",
  target: join(folder, target),
});

test.each(names)("the weights of %s are those that the training exported, byte for byte", (name) => {
  const settings = settingsOf(name, name);
  const path = deriveModelFolder(settings);
  expect(hashOf(join(path, "model.safetensors"))).toBe(settings.sha256);
  expect(readModelFolder(path).weightsBytes).toBeGreaterThan(1e6);
  expect(readdirSync(path).filter((file) => file.includes("partial"))).toEqual([]);
});

test("correct files are used again, and damaged files are replaced", () => {
  const settings = settingsOf("model-1-mini", "again");
  const weights = join(deriveModelFolder(settings), "model.safetensors");
  const { mtimeMs } = statSync(weights);
  deriveModelFolder(settings);
  expect(statSync(weights).mtimeMs).toBe(mtimeMs);
  truncateSync(weights, 1000);
  writeFileSync(join(settings.target, "tokenizer.json"), "{}");
  deriveModelFolder(settings);
  expect(hashOf(weights)).toBe(settings.sha256);
  expect(hashOf(join(settings.target, "tokenizer.json"))).toBe(hashOf(join(settings.source, "tokenizer.json")));
});

test("damaged weights are refused", () => {
  const source = join(folder, "damaged");
  cpSync(join(demo, "model-1-mini"), source, { recursive: true });
  const gguf = join(source, "model-1-mini.bf16.gguf");
  const bytes = readFileSync(gguf);
  bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
  writeFileSync(gguf, bytes);
  const settings = { ...settingsOf("model-1-mini", "from-damaged"), source };
  expect(() => deriveModelFolder(settings)).toThrow(/restore it from the repository/);
  expect(existsSync(join(settings.target, "model.safetensors"))).toBe(false);
});

test("the error names a file that exists in place of the folder", () => {
  mkdirSync(join(folder, "taken"), { recursive: true });
  writeFileSync(join(folder, "taken", "model"), "");
  const settings = settingsOf("model-1-mini", join("taken", "model"));
  expect(() => deriveModelFolder(settings)).toThrow(ModelFolderError);
  expect(() => deriveModelFolder(settings)).toThrow(/cannot be prepared in .*taken/);
});

/** A file system of 4 MB. The test of a full disk needs permission to mount one. */
function mountSmallDisk(): string | undefined {
  const place = join(folder, "disk");
  mkdirSync(place);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", place]).status === 0;
  return mounted ? place : undefined;
}

test("a full disk is reported, and no half-written file stays", (context) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return context.skip("this user may not mount a small file system: run the test as root");
  try {
    const settings = { ...settingsOf("model-1-mini", ""), target: join(disk, "model") };
    expect(() => deriveModelFolder(settings)).toThrow(/The disk is full: make room, or name another data folder/);
    expect(readdirSync(settings.target).filter((file) => /safetensors|partial/.test(file))).toEqual([]);
  } finally {
    spawnSync("umount", [disk]);
  }
});
