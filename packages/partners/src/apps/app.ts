import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** An application or library that people point at an OpenAI-compatible service, with the settings that work. */
export interface App {
  /** The folder of its files in `apps/`, and its name on the command line. */
  readonly name: string;
  readonly title: string;
  readonly kind: "python" | "npm" | "go";
  /** The packages to install, each with its version. */
  readonly packages: readonly string[];
  /** Tells a reader more than the lines do, in a sentence or two. */
  readonly note: string;
}

export const appsFolder = fileURLToPath(new URL("../../apps/", import.meta.url));

/** The file that runs an app. The others are what it needs. */
export const runFile = "run.sh";

/** The files of an app by name, in the order in which a reader needs them: `run.sh` last. */
export function filesOf({ name }: App): Map<string, string> {
  const names = readdirSync(join(appsFolder, name)).filter((file) => file !== "result.json");
  const ordered = names.toSorted((one, other) => Number(one === runFile) - Number(other === runFile));
  return new Map(ordered.map((file) => [file, readFileSync(join(appsFolder, name, file), "utf8")]));
}

/** The outcome of an app's last run. It lies beside the files that were run. */
export interface AppResult {
  /** Of the packages and the files, so that a change without a run is noticed. */
  readonly hash: string;
  /** Requests that the app sent, with their statuses: `POST /v1/chat/completions 200`. */
  readonly requests: readonly string[];
}

export const hashOf = (app: App): string =>
  createHash("sha256")
    .update(JSON.stringify([app.packages, ...filesOf(app)]))
    .digest("hex");

const resultFile = ({ name }: App): string => join(appsFolder, name, "result.json");

/** @returns undefined for an app that never worked */
export const readAppResult = (app: App): AppResult | undefined =>
  existsSync(resultFile(app)) ? (JSON.parse(readFileSync(resultFile(app), "utf8")) as AppResult) : undefined; // our own

export const writeAppResult = (app: App, requests: readonly string[]): void =>
  writeFileSync(resultFile(app), `${JSON.stringify({ hash: hashOf(app), requests }, null, 2)}\n`);
