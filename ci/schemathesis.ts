/**
 * The source of the requests. `grammar`: whole conversations, valid or with one fault, in which each member of the contract is
 * equally likely. `schema`: Schemathesis from the schema alone, with examples, bounds and random values. `auth`: keys.
 * `admin`: the admin API, with calls that use the ids of earlier ones.
 */
export type Source = "grammar" | "schema" | "auth" | "admin";

export interface Bounds {
  readonly source: Source;
  /** Random cases per operation. Schemathesis adds cases for examples and bounds. */
  readonly cases: number;
  readonly seed: number;
  /** Number of unique failures after which the run stops. */
  readonly maxFailures?: number;
}

const flagsOf: Readonly<Record<Source, readonly string[]>> = {
  grammar: ["--phases", "fuzzing", "--mode", "positive", "--include-operation-id", "createChatCompletion"],
  schema: ["--phases", "examples,coverage,fuzzing", "--mode", "all"],
  auth: ["--phases", "fuzzing", "--mode", "positive", "--checks", "ignored_auth"],
  admin: ["--phases", "examples,coverage,fuzzing,stateful", "--mode", "all"],
};

/** Returns the arguments of Schemathesis. It finds the server by `PARLEY_URL`, see `schemathesis.toml`. */
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
