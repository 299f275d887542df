export type Language = "TypeScript" | "Python" | "Go" | "Java" | "Kotlin" | "Rust" | "Ruby" | "PHP";

/** A generator, or a set of libraries around one, that a partner would use. */
export interface Tool {
  /** The folder of its program in `programs/`, and its name on the command line. */
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly language: Language;
  /** The document that it reads. Its program's folder gets it as `openapi.json`. */
  readonly document: "openapi.json" | "openapi-3.0.json";
  /** Programs that have to be on the machine. */
  readonly needs: readonly (keyof typeof prerequisites)[];
  /** Shell commands, run in a scratch copy of the program's folder. `VERSION` in the environment is the tool's. */
  readonly generate: readonly string[];
  readonly compile: readonly string[];
  /** The program. It gets the word for what to do, and a prompt. */
  readonly run: string;
  /** What a reader of the matrix has to know. Of a failure: whether the cause is ours or the tool's. */
  readonly remarks: string;
  /** What the remarks say that the tool cannot do, each shown by a run. */
  readonly limits?: readonly Limit[];
}

/** Shows with the smallest document that the tool itself fails, whatever our document says. */
export interface Limit {
  /** Run after the program's own commands, in the same folder. The last one fails. */
  readonly commands: readonly string[];
  /** A part of what that command prints. */
  readonly prints: string;
}

/** What to install where a program is missing. */
export const prerequisites = {
  npm: "Node 20 or newer with npm",
  jq: "jq 1.6 or newer",
  python3: "Python 3.11 or newer",
  go: "Go 1.26 or newer",
  java: "a JDK, 17 or newer",
  mvn: "Maven 3.8 or newer",
  cargo: "Rust 1.88 or newer with cargo",
  ruby: "Ruby 3.1 or newer with the gem typhoeus",
  php: "PHP 8.2 or newer with curl, mbstring and Guzzle",
} as const;
