import { randomBytes } from "node:crypto";
import { secretNames } from "./command.ts";

/** Secrets that nobody has given are made up for this run: what they open ends with it. */
export function makeSecrets(): void {
  for (const name of secretNames) process.env[name] ??= `ci-${randomBytes(18).toString("base64url")}`;
}
