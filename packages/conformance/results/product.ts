import type { Capability, Level } from "../src/contract/contract.ts";

/**
 * A product that is judged. Its commands are lines of bash. They read FOLDER (a folder of the product), PORT, KEY, MODEL, ROOT (this
 * repository), MODEL_FOLDER (the demonstration weights in the format of Hugging Face), UV and UPSTREAM (the service behind a
 * gateway, without `/v1`).
 */
export interface Product {
  /** The name of its folder. */
  readonly name: string;
  readonly title: string;
  readonly kind: "engine" | "gateway" | "mock";
  readonly version: string;
  /** The registry that the version is installed from, and the service or model behind it. */
  readonly from: string;
  readonly behind: string;
  readonly install: readonly string[];
  /** Files of its folder that are written before it is installed. */
  readonly files?: Readonly<Record<string, string>>;
  readonly start: string;
  /** The model as a caller names it. */
  readonly model: string;
  /** Default: `/v1`. */
  readonly basePath?: string;
  readonly levels: readonly Level[];
  readonly modelIs: readonly (Capability | "any")[];
  /** Headers of every request, as `Name: value`. */
  readonly headers?: readonly string[];
  /** Facts that a reader of the result needs. */
  readonly note?: string;
}

/** Packages that were published later are not used, so that an installation can be repeated. */
const packagesBefore = "2026-11-26";
export const venv = (...packages: readonly string[]): string[] => [
  '"$UV" venv --quiet --allow-existing --python 3.11 "$FOLDER/venv"',
  `"$UV" pip install --quiet --exclude-newer ${packagesBefore} --python "$FOLDER/venv/bin/python" ${packages.map((one) => `'${one}'`).join(" ")}`,
];

/** The packages of the product's `package.json`. */
export const npm = 'cd "$FOLDER" && npm install --silent --no-audit --no-fund --ignore-scripts';
export const manifest = (dependencies: Readonly<Record<string, string>>, overrides = {}): string =>
  `${JSON.stringify({ private: true, dependencies, overrides })}\n`;
