/** A tensor of a GGUF file. */
export interface GgufTensor {
  readonly name: string;
  /** The number of rows, then of columns. A vector has only its length. */
  readonly shape: readonly number[];
  readonly type: "F32" | "BF16";
  readonly data: Buffer;
}

/** The size in bytes of each fixed-size type, by GGUF's number of the type. */
const sizes: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const stringType = 8;
const arrayType = 9;
const tensorTypes: Readonly<Record<number, GgufTensor["type"]>> = { 0: "F32", 30: "BF16" };
const alignment = 32;

/** Reads the numbers and strings of a file in order. */
class Reader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  word(): number {
    this.at += 4;
    return this.#bytes.readUInt32LE(this.at - 4);
  }

  long(): number {
    this.at += 8;
    return Number(this.#bytes.readBigUInt64LE(this.at - 8));
  }

  text(): string {
    const length = this.long();
    this.at += length;
    return this.#bytes.toString("utf8", this.at - length, this.at);
  }

  skipValue(type: number): void {
    if (type === stringType) return void this.text();
    if (type === arrayType) {
      const inner = this.word();
      const count = this.long();
      for (let index = 0; index < count; index++) this.skipValue(inner);
      return;
    }
    const size = sizes[type];
    if (size === undefined) throw new Error(`GGUF value of the unknown type ${type}`);
    this.at += size;
  }
}

/** Returns the tensors of a GGUF file of version 3. @throws {Error} for other files, and for quantized tensors */
export function readGguf(bytes: Buffer): readonly GgufTensor[] {
  const reader = new Reader(bytes);
  if (bytes.toString("latin1", 0, 4) !== "GGUF") throw new Error("not a GGUF file");
  reader.word();
  const version = reader.word();
  if (version !== 3) throw new Error(`GGUF version ${version} is not supported`);
  const tensors = reader.long();
  const values = reader.long();
  for (let index = 0; index < values; index++) {
    reader.text();
    reader.skipValue(reader.word());
  }
  const found = Array.from({ length: tensors }, () => readTensor(reader));
  const start = Math.ceil(reader.at / alignment) * alignment;
  return found.map(({ name, shape, type, offset }) => {
    const length = shape.reduce((product, size) => product * size, type === "F32" ? 4 : 2);
    return { name, shape, type, data: bytes.subarray(start + offset, start + offset + length) };
  });
}

function readTensor(reader: Reader): Omit<GgufTensor, "data"> & { readonly offset: number } {
  const name = reader.text();
  const dimensions = reader.word();
  const shape = Array.from({ length: dimensions }, () => reader.long()).toReversed();
  const type = reader.word();
  const known = tensorTypes[type];
  if (known === undefined) throw new Error(`the tensor ${name} is neither float32 nor bfloat16`);
  return { name, shape, type: known, offset: reader.long() };
}
