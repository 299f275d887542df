import { createInterface } from "node:readline";
import { StreamFailedError, StreamTruncatedError, readStream } from "./read-stream.ts";
import type { Chunk } from "./read-stream.ts";

// The program that `readers.test.ts` runs. Each line of the input is a stream, as pieces in hexadecimal digits. For each, the
// program prints a line: a JSON array of the chunks that the reader found, and of the end of the stream.

async function* feed(line: string): AsyncGenerator<Uint8Array> {
  for (const piece of line.split(" ")) yield Buffer.from(piece, "hex");
}

function describe({ choices, usage }: Chunk): string {
  const parts = choices.map(({ delta, finish_reason }) => {
    const calls = (delta.tool_calls ?? []).map((call) => call.function.arguments);
    return [delta.content ?? "", ...calls, finish_reason ?? ""].join("");
  });
  return [...parts, ...(usage ? [String(usage.total_tokens)] : [])].join("");
}

async function read(line: string): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const chunk of readStream(feed(line))) found.push(describe(chunk));
    return [...found, "done"];
  } catch (error) {
    if (error instanceof StreamTruncatedError) return [...found, "truncated"];
    if (error instanceof StreamFailedError) return [...found, `${error.code} ${error.requestId}`];
    throw error;
  }
}

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await read(line)));
