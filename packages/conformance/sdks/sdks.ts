/** An SDK of the matrix: where its adapter is, and how it is installed. */
export interface Sdk {
  readonly name: string;
  readonly title: string;
  readonly language: "TypeScript" | "Python" | "Go" | "Java" | "Rust";
  readonly version: string;
  /** Commands of the shell. `$TOOLS` is a folder for everything that is installed or built. */
  readonly install: readonly string[];
  /** The command that starts the adapter. */
  readonly adapter: string;
  /** A remark on the way the adapter calls the SDK. */
  readonly remark?: string;
}

/** The packages of this workspace have these versions, and `pnpm-lock.yaml` is their lock. */
const typescript = (file: string): Pick<Sdk, "language" | "install" | "adapter"> => ({
  language: "TypeScript",
  install: [],
  adapter: `node typescript/${file}.mjs`,
});

const python = (name: string, file: string): Pick<Sdk, "name" | "language" | "install" | "adapter"> => ({
  name,
  language: "Python",
  install: [`python3 -m venv "$TOOLS/${name}"`, `"$TOOLS/${name}/bin/pip" install --quiet -r python/${name}.txt`],
  adapter: `"$TOOLS/${name}/bin/python" python/${file}.py`,
});

const go = (name: string): Pick<Sdk, "name" | "language" | "install" | "adapter"> => ({
  name,
  language: "Go",
  install: [`cd go && go build -o "$TOOLS/go/${name}" ./${name}`],
  adapter: `"$TOOLS/go/${name}"`,
});

const java = (name: string, main: string): Pick<Sdk, "name" | "language" | "install" | "adapter"> => ({
  name,
  language: "Java",
  install: [`mvn -q -B -f java/pom.xml package -Doutput="$TOOLS/java"`],
  adapter: `java -cp "$TOOLS/java/classes:$TOOLS/java/lib/*" judged.${main}`,
});

const rust = (name: string): Pick<Sdk, "name" | "language" | "install" | "adapter"> => ({
  name,
  language: "Rust",
  install: [`cargo build --quiet --locked --manifest-path rust/Cargo.toml --target-dir "$TOOLS/rust" --bin ${name}`],
  adapter: `"$TOOLS/rust/debug/${name}"`,
});

export const sdks: readonly Sdk[] = [
  {
    ...typescript("parley"),
    name: "parley-client",
    title: "@parley/client",
    version: "0.1.0",
    adapter: "node typescript/parley.mjs ../../client/src/index.ts",
  },
  { ...typescript("openai"), name: "openai-node", title: "openai (Node)", version: "7.57.0" },
  {
    ...typescript("ai-sdk"),
    name: "ai-sdk",
    title: "Vercel AI SDK",
    version: "7.0.173",
    remark: "with @ai-sdk/openai-compatible 3.0.92",
  },
  {
    ...typescript("langchain"),
    name: "langchain-js",
    title: "LangChain JS",
    version: "1.6.0",
    remark: "the package @langchain/openai",
  },
  { ...python("openai-python", "openai_python"), title: "openai (Python)", version: "3.57.0" },
  {
    ...python("langchain-python", "langchain_python"),
    title: "LangChain Python",
    version: "1.7.4",
    remark: "the package langchain-openai",
  },
  {
    ...python("litellm", "litellm_python"),
    title: "LiteLLM",
    version: "1.110.2",
    remark: "the library, not the proxy",
  },
  { ...python("pydantic-ai", "pydantic_ai_python"), title: "Pydantic AI", version: "2.68.0" },
  {
    ...python("instructor", "instructor_python"),
    title: "Instructor",
    version: "1.17.0",
    remark: "with `response_model=None`, so the answers are those of the openai package that it wraps",
  },
  { ...go("openai-go"), title: "openai-go", version: "3.98.0" },
  {
    ...go("go-openai"),
    title: "go-openai",
    version: "1.43.0",
    remark: "by sashabaranov; it leaves retries to its users",
  },
  { ...java("openai-java", "OpenAIJava"), title: "openai-java", version: "4.101.0" },
  {
    ...java("langchain4j", "LangChain4j"),
    title: "LangChain4j",
    version: "1.19.0",
    remark: "the package langchain4j-open-ai; its streaming model has no retries",
  },
  {
    ...rust("async-openai"),
    title: "async-openai",
    version: "0.43.0",
    remark: "its typed API; its feature `byot` gives the JSON itself",
  },
  { ...rust("genai"), title: "genai", version: "0.7.2", remark: "it leaves retries to its users" },
];
