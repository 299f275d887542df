import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import type { GgufFileInfo } from "node-llama-cpp";
import { readModelFile } from "./open-llama.ts";

/** The model file cannot be used. The message says what is wrong with it and what to do. */
export class ModelFileError extends Error {
  override name = "ModelFileError";
}

/**
 * Checks that the model file exists, is GGUF, has the recorded hash, and is a chat model; returns its header.
 * @throws {ModelFileError}
 */
export async function checkModelFile(path: string, sha256: string | undefined): Promise<GgufFileInfo> {
  const magic = await readMagic(path);
  if (magic !== "GGUF") {
    throw new ModelFileError(
      `${path} is not a GGUF file (it begins with ${JSON.stringify(magic)}): convert the model to GGUF or name another file.`,
    );
  }
  if (sha256 === undefined || (await hashOf(path)) === sha256) return readHeader(path);
  throw new ModelFileError(
    `${path} is damaged: its SHA-256 is not the recorded one. Restore it with "git checkout -- <file>", or name a file of your own with PARLEY_MODEL_1_GGUF or PARLEY_MODEL_1_MINI_GGUF.`,
  );
}

async function readMagic(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead).toString("latin1");
  } catch (error) {
    const reason =
      error instanceof Error && "code" in error && error.code === "ENOENT"
        ? "is missing"
        : `cannot be read (${String(error)})`;
    throw new ModelFileError(`The model file ${path} ${reason}: restore it, or name another one.`, { cause: error });
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  // A stream without an encoding gives buffers.
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

async function readHeader(path: string): Promise<GgufFileInfo> {
  const file = await readModelFile(path).catch((error: unknown) => {
    throw cannotLoad(path, String(error));
  });
  // Every tensor that the header lists must begin inside the file. llama.cpp checks where they end.
  const { size } = await stat(path);
  const tensors = file.fullTensorInfo ?? [];
  const isWhole =
    tensors.length > 0 && tensors.every((tensor) => tensor.name !== "" && Number(tensor.fileOffset) < size);
  if (!isWhole) throw new ModelFileError(`${path} is truncated at ${size} bytes: copy it again.`);
  // The type declares fields that a file may lack.
  const tokenizer = file.metadata.tokenizer as Partial<GgufFileInfo["metadata"]["tokenizer"]> | undefined;
  if (tokenizer?.ggml?.tokens && tokenizer.chat_template) return file;
  throw new ModelFileError(
    `${path} holds no chat model: its tokenizer or its chat template is missing. Name another file.`,
  );
}

/** llama.cpp checks the tensors last. Only its error message is known. */
export const cannotLoad = (path: string, reason: string): ModelFileError =>
  new ModelFileError(
    `${path} cannot be loaded, it is damaged, truncated or of a kind that llama.cpp does not know: ${reason}`,
  );
