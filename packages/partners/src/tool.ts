export type Language = "TypeScript" | "Python" | "Go" | "Java" | "Kotlin" | "Rust" | "Ruby" | "PHP";

/** A generator, or a set of libraries around one, that a partner may use. */
export interface Tool {
  /** Name of the tool on the command line, and of its program's folder in `programs/`. */
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly language: Language;
  /** The document that it reads. It is copied to its program's folder as `openapi.json`. */
  readonly document: "openapi.json" | "openapi-3.0.json";
  /** Programs that the machine must have. */
  readonly needs: readonly (keyof typeof prerequisites)[];
  /** Shell commands, run in a scratch copy of the program's folder. `VERSION` in the environment is the tool's. */
  readonly generate: readonly string[];
  readonly compile: readonly string[];
  /** Command that runs the program. Its arguments are the name of the task and a prompt. */
  readonly run: string;
  /** Remarks for the reader of the matrix. For a failure, they say whether the cause is ours or the tool's. */
  readonly remarks: string;
  /** Limits of the tool that the remarks mention, each shown by a run. */
  readonly limits?: readonly Limit[];
}

/** Shows with a minimal document that the tool itself fails, independently of our document. */
export interface Limit {
  /** Commands that run after the program's own commands, in the same folder. The last one fails. */
  readonly commands: readonly string[];
  /** A part of that command's output. */
  readonly prints: string;
}

/** The package to install if a program is missing. */
export const prerequisites = {
  npm: "Node 20 or newer with npm",
  jq: "jq 1.6 or newer",
  python3: "Python 3.11 or newer",
  go: "Go 1.26 or newer",
  java: "JDK 17 or newer",
  mvn: "Maven 3.8 or newer",
  cargo: "Rust 1.88 or newer with cargo",
  ruby: "Ruby 3.1 or newer with the gem typhoeus",
  php: "PHP 8.2 or newer with curl, mbstring and Guzzle",
} as const;
