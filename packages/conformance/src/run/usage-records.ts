import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { parse } from "../judge/read.ts";
import type { ConformanceProfile } from "../profile.ts";

const run = promisify(execFile);

/** Reads the usage record of a request through the implementer's hook. If the command fails, there is no record. */
export function recordLookup(
  { command, url }: NonNullable<ConformanceProfile["records"]>,
  origin: string,
): (requestId: string) => Promise<unknown> {
  return async (requestId) => {
    const fill = (text: string): string => text.replaceAll("{id}", requestId);
    if (url !== undefined) return readUrl(new URL(fill(url), origin));
    const [program = "", ...args] = (command ?? []).map(fill);
    const output = await run(program, args, { timeout: 20_000 }).catch(() => ({ stdout: "[]" }));
    return parse(output.stdout) ?? [];
  };
}

async function readUrl(url: URL): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) }).catch(() => undefined);
  return response?.ok === true ? response.json() : [];
}
