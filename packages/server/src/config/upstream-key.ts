import { readFileSync } from "node:fs";
import { explainWrapping } from "./explain-environment.ts";
import type { Reading } from "./reading.ts";
import type { RemoteSettings } from "./remote-settings.ts";
import { bearer } from "./value-kinds.ts";

/** Returns the bearer token for an upstream: its own, from a variable or a file, otherwise the shared one. */
export function readUpstreamKey(remote: RemoteSettings, place: string, reading: Reading): string | undefined {
  const { api_key_env: variable, api_key_file: file } = remote;
  if (variable === undefined && file === undefined) return reading.settings.upstreamApiKey;
  if (variable !== undefined && file !== undefined) {
    reading.faults.push(`${place} must have api_key_env or api_key_file, not both`);
  } else if (reading.env) {
    const token = file === undefined ? reading.env[variable ?? ""] : readToken(file);
    const wrapping = explainWrapping(token ?? "");
    if (wrapping === undefined && bearer().safeParse(token).success) return token;
    const source = file === undefined ? `api_key_env: the variable ${variable}` : `api_key_file: the file ${file}`;
    if (wrapping !== undefined) {
      reading.faults.push(`${place}.${source} ${wrapping}`);
      return undefined;
    }
    reading.faults.push(`${place}.${source} must hold a token, printable characters without blanks`);
  }
  return undefined;
}

/** Reads a token from a file, without the line feed at its end. */
function readToken(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined; // reported like a file without a token
  }
}
