import { gateRuns } from "./fuzz-gate.ts";
import { python, redocly, step, suite, waiting } from "./define-step.ts";
import { imageSteps } from "./image-steps.ts";
import { conformance, contract, everything, inference, server, shown, site, typescript } from "./inputs.ts";
import type { Step } from "./step.ts";
import { pnpm } from "./pnpm.ts";

// The table of the pipeline, in the order in which steps start. A step waits for its needs and for a free processor.

const partners = ["node", "packages/partners/src/main.ts", "--check"] as const;

const sbomFile = ".parley/ci/sbom.cdx.json";

export const steps: readonly Step[] = [
  step({ name: "types", purpose: "TypeScript compiles, strictly", command: ["tsc", "-p", "."], inputs: typescript }),
  step({
    name: "types:browser",
    purpose: "TypeScript compiles, strictly: the scripts of the docs portal",
    command: ["tsc", "-p", "site/src/browser"],
    inputs: ["site", "tsconfig.json"],
  }),
  redocly("contract-lint", "the contract and its workflows keep Redocly's rules and our own", "openapi/redocly.yaml", [
    "openapi/openapi.yaml",
    "openapi/workflows.arazzo.yaml",
  ]),
  redocly("contract-lint:admin", "the contract of the admin API keeps them, too", "openapi/admin/redocly.yaml", [
    "openapi/admin/openapi.yaml",
  ]),
  step({
    name: "contract-lint:spectral",
    purpose: "both contracts keep Spectral's recommended rules, as partners who lint them do",
    command: ["node", "ci/lint-served.ts"],
    inputs: [...contract, ...site, "docs"],
  }),
  step({
    name: "lint",
    purpose: "oxlint finds nothing, with the rules that know types",
    command: ["oxlint", "--type-aware", "--deny-warnings"],
    // Without `.gitignore` it would read every file of `node_modules`.
    inputs: [...typescript, "demo-models", ".oxlintrc.json", ".gitignore"],
  }),
  step({ name: "format", purpose: "every file is formatted", command: ["oxfmt", "--check"], inputs: everything }),
  step({
    name: "contract-diff",
    purpose: "nothing that the last release promised is broken in either contract, unless its version says so",
    command: ["node", "ci/contract-diff/main.ts"],
    inputs: ["openapi", "packages/contract"],
  }),
  step({
    name: "sbom",
    purpose: "a bill of all packages in the lock file, as CycloneDX",
    command: [...pnpm, "sbom", "--sbom-format", "cyclonedx", "--out", sbomFile],
    inputs: ["packages/client/package.json"],
    outputs: [sbomFile],
  }),
  step({
    name: "licences",
    purpose: "every package of the bill has a licence that is allowed",
    command: ["node", "ci/check-licences.ts", sbomFile],
    needs: ["sbom"],
    inputs: [],
  }),
  suite({ name: "generated", purpose: "what is generated is what `generate` writes", inputs: everything, cores: 1 }),
  // On a host, the processes of the following tests start from the bundle, in half the time.
  step({
    name: "bundle",
    purpose: "the server can be put into a few files",
    command: ["node", "packages/server/src/bundle/main.ts"],
    inputs: server,
  }),
  // These leave a processor to others. The longest ones start first. A vLLM of the tests keeps to one processor.
  step({
    name: "vllm",
    purpose: "the contract over a real vLLM",
    command: ["node", "ci/test-vllm.ts"],
    image: "vllm",
    counts: "vitest",
    inputs: ["vitest.vllm.config.ts", ...server],
    needs: ["types"],
    timeLimitSeconds: 3600,
  }),
  suite({
    name: "conformance-suite",
    purpose: "the judge itself, and Parley with every engine",
    inputs: conformance,
    ...waiting,
  }),
  suite({
    name: "mutants",
    purpose: "the judge finds seeded bugs: a part of them",
    inputs: conformance,
    runners: ["host"],
    ...waiting,
  }),
  suite({
    name: "repository",
    purpose: "the tree, its pages and the pipeline are in order",
    inputs: everything,
    ...waiting,
  }),
  suite({
    name: "contract",
    purpose: "examples, clauses, streams and lint rules of the contract agree",
    inputs: ["openapi", "packages/contract"],
  }),
  suite({ name: "unit", purpose: "the parts of the engines and of the server", inputs: server }),
  suite({ name: "operations", purpose: "every status of every operation", inputs: server }),
  suite({
    name: "operations:express",
    purpose: "every status of chat completions once more, through Express and its validator",
    inputs: server,
  }),
  suite({ name: "engines", purpose: "the engines as whole processes, with real weights", inputs: inference }),
  suite({ name: "server", purpose: "the server as a whole: commands, crashes, limits", inputs: ["deploy", ...shown] }),
  suite({
    name: "shared-state",
    purpose: "answers, limits, money and reports once more, on PostgreSQL and Valkey",
    image: "stores",
    inputs: server,
  }),
  suite({ name: "sdks", purpose: "OpenAI's, Vercel's and LangChain's SDKs against the server", inputs: server }),
  suite({
    name: "client",
    purpose: "our client against the server, and as it is packed",
    image: "browser",
    inputs: ["LICENSE", ...shown],
  }),
  suite({ name: "demo-models", purpose: "what judges the demonstration models", inputs: ["demo-models"], cores: 1 }),
  suite({
    name: "bench",
    purpose: "the simulated engine, the load generator and the bench's report count right",
    image: "c",
    inputs: ["bench", "demo-models/model-1-mini"],
    cores: 1,
  }),
  step({
    name: "bench:smoke",
    purpose:
      "every gateway of the bench that is installed gives the engine's answers; costs are recorded, never judged",
    command: ["node", "bench/gateways/main.ts", "--smoke", "--rows", "plain,streams-100,one-token,latency,start"],
    image: "c",
    inputs: ["bench", ...server],
    needs: ["types"],
    cores: 2,
  }),
  suite({
    name: "schemas",
    purpose: "compiled schemas accept what is valid and nothing else",
    inputs: ["packages/json-schema-grammar"],
    cores: 1,
  }),
  suite({
    name: "pressure",
    purpose: "nothing stops while one caller attacks the server in every way of bench/pressure, two seconds each",
    inputs: ["bench", ...server],
    cores: 2,
  }),
  suite({
    name: "partners",
    purpose: "the table of partners' generators agrees with its programs and their results",
    inputs: ["packages/partners", ...server],
    cores: 1,
  }),
  step({
    name: "partners:quick",
    purpose: "a generator each for TypeScript, Python and Go still makes a client that works: the quick ones",
    command: [...partners, "--only", "openapi-fetch,datamodel-code-generator,oapi-codegen"],
    inputs: ["packages/partners", ...server],
    needs: ["types"],
    timeLimitSeconds: 600,
  }),
  suite({
    name: "packages",
    purpose: "what is published: publint, attw, size, content",
    inputs: ["packages", "LICENSE"],
    cores: 1,
  }),
  step({
    name: "packages:fresh-clone",
    purpose: "the packages can be packed from a fresh clone",
    command: ["node", "ci/pack-fresh-clone.ts"],
    inputs: everything,
  }),
  suite({
    name: "docs",
    purpose: "the docs over HTTP and in a browser, a mock, a collection and workflows",
    image: "browser",
    inputs: [...server, "packages/client"],
  }),
  suite({
    name: "readers",
    purpose:
      "the readers of streams in four languages, with every stream cut at every byte, and the samples of the guides",
    image: "readers",
    inputs: server,
    cores: 1,
  }),
  python("python:lint", "ruff finds nothing in the Python code", ["ruff", "check"]),
  python("python:format", "every file of Python is formatted", ["ruff", "format", "--check"]),
  python("python:types", "pyright finds nothing in the Python code", ["pyright"]),
  python("python:sizes", "no file or function of Python is too long", ["python", "ci/python/check_sizes.py"]),
  python(
    "python:yaml",
    "the contract in YAML says to PyYAML, a reader of YAML 1.1, what it says in JSON",
    ["python", "ci/python/check_yaml.py"],
    [...contract, ...site, "docs"],
  ),
  python("training", "the training of the demonstration models, without torch where there is none", [
    "python",
    "ci/python/test_training.py",
  ]),
  step({
    name: "conformance",
    purpose: "the server as `start` starts it keeps the contract",
    command: ["node", "ci/judge-server.ts"],
    services: ["server"],
    secrets: ["PARLEY_API_KEY"],
    inputs: conformance,
    needs: ["types"],
    timeLimitSeconds: 600,
  }),
  suite({
    name: "fuzz-checks",
    purpose: "the fuzzer's own checks find seeded bugs",
    image: "python",
    inputs: ["fuzz", ...server],
    // Fuzzer and server wait for each other.
    ...waiting,
  }),
  ...gateRuns.map(({ name, target, command, environment, record }) =>
    step({
      name: `fuzz:${name}`,
      purpose: `Schemathesis finds nothing in the ${target} server`,
      command,
      environment,
      image: "schemathesis",
      services: [`fuzz-${target}`],
      inputs: ["fuzz", ...server],
      outputs: [record],
      needs: ["types"],
      timeLimitSeconds: 900,
    }),
  ),
  step({
    name: "fuzz:depth",
    purpose: "those runs went as deep as fuzz/floors.yaml wants",
    command: ["node", "fuzz/judge-depth.ts"],
    needs: gateRuns.map(({ name }) => `fuzz:${name}`),
    inputs: ["fuzz", ...server],
  }),
  ...imageSteps,
  step({
    name: "partners:all",
    purpose: "every generator whose language is in the image does as well as its result says",
    command: partners,
    image: "partners",
    inputs: ["packages/partners", ...server],
    needs: ["types"],
    cores: 2,
    timeLimitSeconds: 3600,
    runners: ["dagger"],
  }),
  suite({
    name: "shared-state:all",
    purpose: "all that the server's tests can show on PostgreSQL and Valkey",
    image: "stores",
    inputs: ["deploy", ...shown],
    timeLimitSeconds: 3600,
    runners: ["dagger"],
  }),
  step({
    name: "mutants:all",
    purpose: "the judge finds every seeded bug",
    command: ["vitest", "run", "--project", "mutants", "--maxWorkers=2"],
    environment: { PARLEY_MUTANTS: "all" },
    counts: "vitest",
    inputs: conformance,
    needs: ["types"],
    cores: 2,
    timeLimitSeconds: 3600,
    runners: ["dagger"],
  }),
];
