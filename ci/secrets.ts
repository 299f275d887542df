import { randomBytes } from "node:crypto";
import { secretNames } from "./command.ts";

/** Generates secrets that are not in the environment. They are only for servers of this run. */
export function makeSecrets(): void {
  for (const name of secretNames) process.env[name] ??= `ci-${randomBytes(18).toString("base64url")}`;
}
