/**
 * What draws the requests. `grammar`: whole conversations, with each member of the contract as likely as any other, valid or
 * with one fault. `schema`: Schemathesis from the schema alone: examples, bounds, random values. `auth`: keys.
 */
export type Source = "grammar" | "schema" | "auth";

export interface Bounds {
  readonly source: Source;
  /** Of each operation; Schemathesis adds those of its examples and bounds. */
  readonly cases: number;
  readonly seed: number;
  /** The number of unique failures after which it stops. */
  readonly maxFailures?: number;
}

const flagsOf: Readonly<Record<Source, readonly string[]>> = {
  grammar: ["--phases", "fuzzing", "--mode", "positive", "--include-operation-id", "createChatCompletion"],
  schema: ["--phases", "examples,coverage,fuzzing", "--mode", "all"],
  auth: ["--phases", "fuzzing", "--mode", "positive", "--checks", "ignored_auth"],
};

/** The arguments of Schemathesis. It finds the server by `PARLEY_URL`, see `schemathesis.toml`. */
export const argumentsOf = (
  { source, cases, seed, maxFailures = 20 }: Bounds,
  paths: { readonly config: string; readonly contract: string },
): string[] => [
  "--config-file",
  paths.config,
  "run",
  paths.contract,
  "--no-color",
  ...flagsOf[source],
  "--max-examples",
  String(cases),
  "--max-failures",
  String(maxFailures),
  "--seed",
  String(seed),
];
