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

const openapiGenerator = "7.23.0";
const fetchGenerator =
  "mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:$VERSION -DoutputDirectory=. -Dmdep.stripVersion=true";
const pip = "python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check -r requirements.txt";
const mypy = "venv/bin/mypy --strict main.py";

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
  {
    name: "openapi-generator-typescript-fetch",
    title: "openapi-generator, typescript-fetch",
    version: openapiGenerator,
    language: "TypeScript",
    document: "openapi.json",
    needs: ["npm", "java", "mvn"],
    generate: [
      npm,
      fetchGenerator,
      "java -jar openapi-generator-cli.jar generate -g typescript-fetch -i openapi.json -o parley",
    ],
    compile: [tsc],
    run: "npx tsx main.ts",
    remarks:
      "The tool's cause: where a schema requires a member with an underscore, such as `request_id`, its `instanceOf…` function fails with TS7053 under `strict`. README.md of the program has a minimal document.",
  },
  {
    name: "openapi-python-client",
    title: "openapi-python-client, httpx-sse",
    version: "0.29.1",
    language: "Python",
    document: "openapi.json",
    needs: ["python3"],
    generate: [pip, "venv/bin/openapi-python-client generate --path openapi.json --meta none --output-path parley"],
    compile: [mypy],
    run: "venv/bin/python main.py",
    remarks: "`mypy --strict`, but for one redundant cast that the tool generates.",
  },
  {
    name: "datamodel-code-generator",
    title: "datamodel-code-generator, httpx, httpx-sse",
    version: "0.89.0",
    language: "Python",
    document: "openapi.json",
    needs: ["python3"],
    generate: [
      pip,
      "venv/bin/datamodel-codegen --input openapi.json --input-file-type openapi --output models.py --output-model-type pydantic_v2.BaseModel --target-python-version 3.11 --use-annotated --formatters builtin",
    ],
    compile: [mypy],
    run: "venv/bin/python main.py",
    remarks: "`mypy --strict`. The tool makes types only; httpx makes the requests.",
  },
  {
    name: "oapi-codegen",
    title: "oapi-codegen",
    version: "2.8.2",
    language: "Go",
    document: "openapi.json",
    needs: ["go"],
    generate: [
      "go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v$VERSION -generate types,client -package main -o parley.go openapi.json",
    ],
    compile: ["go vet .", "go build -o program ."],
    run: "./program",
    remarks: "",
  },
  {
    name: "openapi-generator-go",
    title: "openapi-generator, go",
    version: openapiGenerator,
    language: "Go",
    document: "openapi.json",
    needs: ["go", "java", "mvn"],
    generate: [
      fetchGenerator,
      "java -jar openapi-generator-cli.jar generate -g go -i openapi.json -o parley --additional-properties=withGoMod=false,packageName=parley,enumClassPrefix=true",
      // Tests of a module whose name is left open.
      "rm -r parley/test",
    ],
    compile: ["go vet ./...", "go build -o program ."],
    run: "./program",
    remarks:
      "Needs `enumClassPrefix=true`: two enums of the contract share the value `insufficient_quota`. The program sends a stream's request itself, since the client reads whole answers.",
  },
];
