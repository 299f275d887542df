import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { childSdk } from "./child-sdk.ts";
import { aiSdk } from "./node/ai-sdk.ts";
import { langchainJs } from "./node/langchain-js.ts";
import { openaiNode } from "./node/openai-node.ts";
import type { Sdk } from "./sdk.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const installed = join(tmpdir(), "parley-sdk-proofs");

/** The version of a package of this repository's lock file. */
function versionOf(name: string): string {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const file = folders.map((folder) => join(folder, name, "package.json")).find((path) => existsSync(path)) ?? "";
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }; // every package has one
  return version;
}

/** The SDKs that are in this repository's lock file. */
export const nodeSdks = (): readonly Sdk[] => [
  openaiNode,
  aiSdk(`${versionOf("ai")} + ${versionOf("@ai-sdk/openai-compatible")}`),
  langchainJs(versionOf("@langchain/openai")),
];

interface PythonSdk {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  readonly package: string;
  /** SDKs whose dependencies disagree have environments of their own. */
  readonly environment: "first" | "second";
}

const pythonSdks: readonly PythonSdk[] = [
  { name: "openai (Python)", module: "openai_python", package: "openai", version: "3.57.0", environment: "first" },
  { name: "litellm", module: "litellm_client", package: "litellm", version: "1.110.2", environment: "first" },
  {
    name: "langchain-openai",
    module: "langchain_python",
    package: "langchain-openai",
    version: "1.7.4",
    environment: "first",
  },
  {
    name: "pydantic-ai",
    module: "pydantic_ai_client",
    package: "pydantic-ai-slim[openai]",
    version: "2.68.0",
    environment: "first",
  },
  { name: "instructor", module: "instructor_client", package: "instructor", version: "1.17.0", environment: "second" },
];

const goSdks = [
  { name: "openai-go", folder: "openai-go", module: "github.com/openai/openai-go/v3", version: "3.98.0" },
  { name: "go-openai", folder: "go-openai", module: "github.com/sashabaranov/go-openai", version: "1.43.0" },
];

const run = (folder: string, command: string, ...args: readonly string[]): void =>
  void execFileSync(command, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });

/** Installs the SDKs of other languages under the system's temporary folder, unless an earlier run has done it. */
export function foreignSdks(): readonly Sdk[] {
  for (const environment of ["first", "second"]) {
    const folder = join(installed, environment);
    if (existsSync(join(folder, "bin/python"))) continue;
    mkdirSync(installed, { recursive: true });
    const wanted = pythonSdks.filter((sdk) => sdk.environment === environment);
    run(installed, "python3", "-m", "venv", folder);
    run(installed, join(folder, "bin/pip"), "install", "-q", ...wanted.map((sdk) => `${sdk.package}==${sdk.version}`));
  }
  return [
    ...pythonSdks.map(({ name, module, version, environment }) =>
      childSdk(name, version, join(installed, environment, "bin/python"), [join(here, "python/driver.py"), module]),
    ),
    ...goSdks.map(({ name, folder, module, version }) => {
      const own = join(installed, folder);
      if (!existsSync(join(own, "program"))) {
        mkdirSync(own, { recursive: true });
        copyFileSync(join(here, "go", folder, "main.go"), join(own, "main.go"));
        if (!existsSync(join(own, "go.mod"))) run(own, "go", "mod", "init", "program");
        run(own, "go", "get", `${module}@v${version}`);
        run(own, "go", "build", "-o", "program", ".");
      }
      return childSdk(name, version, join(own, "program"), []);
    }),
  ];
}

/** The versions of the SDKs of other languages. */
export const foreignVersions: Readonly<Record<string, string>> = Object.fromEntries(
  [...pythonSdks, ...goSdks].map(({ name, version }) => [name, version]),
);
