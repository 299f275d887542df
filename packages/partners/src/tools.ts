/** A generator, or a set of libraries around one, that a partner would use. */
export interface Tool {
  /** The folder of its program in `programs/`, and its name on the command line. */
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly language: "TypeScript" | "Python" | "Go" | "Java";
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
}

/** What to install where a program is missing. */
export const prerequisites = {
  npm: "Node 20 or newer with npm",
  python3: "Python 3.11 or newer",
  go: "Go 1.26 or newer",
  java: "a JDK, 17 or newer",
  mvn: "Maven 3.8 or newer",
} as const;

const npm = "npm install --no-audit --no-fund --loglevel=error";
/** With `strict`, see the tsconfig.json of each program. */
const tsc = "npx tsc -p .";

export const tools: readonly Tool[] = [
  {
    name: "openapi-fetch",
    title: "openapi-typescript, openapi-fetch",
    version: "7.13.0",
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm"],
    generate: [npm, "npx openapi-typescript openapi.json -o parley.ts"],
    compile: [tsc],
    run: "node dist/main.js",
    remarks: "",
  },
  {
    name: "hey-api",
    title: "@hey-api/openapi-ts",
    version: "0.99.0",
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm"],
    generate: [npm, "npx openapi-ts -i openapi.json -o parley"],
    compile: [tsc],
    run: "npx tsx main.ts",
    remarks: "",
  },
];
