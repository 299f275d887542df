import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import type { Report } from "../src/report/report.ts";
import type { SandwichReport } from "../src/sandwich/report.ts";
import { engines } from "./engines.ts";
import { gateways, mocks } from "./gateways.ts";
import { writeMatrix } from "./matrix.ts";
import type { Product } from "./product.ts";
import { fileOf, hashChecks, maxAgeDays, resultOf, sandwichResultOf, writeLines } from "./result.ts";
import type { Origin } from "./result.ts";
import { fill, freePort, key, startParley, startProduct } from "./server.ts";
import type { Variables } from "./server.ts";

/**
 * Installs products, judges them, and writes the results: `reproduce.ts vllm litellm --profile openai`. It needs bash, Python 3.11
 * and npm. Everything is installed into one folder, which is removed at the end.
 */

const root = fileURLToPath(new URL("../../..", import.meta.url));
const cli = join(root, "packages/conformance/src/cli/main.ts");
const products = [...engines, ...gateways, ...mocks];
interface Flags {
  readonly set: string;
  readonly profile: string;
  readonly folder?: string;
}

const program = new Command("results")
  .argument("<products...>", `all, or some of ${products.map(({ name }) => name).join(", ")}`)
  .option("--set <name>", "the set of requirements that the results belong to", "2026-12")
  .option("--profile <names>", "openai, parley and, for gateways, sandwich", "openai,parley,sandwich")
  .option("--folder <path>", "install here, and keep it (default: a temporary folder that is removed)")
  .action(async (names: readonly string[], flags: Flags) => {
    const odd = names.find((name) => name !== "all" && !products.some((product) => product.name === name));
    if (odd !== undefined) program.error(`"${odd}" is not a product: name all, or some of the list in --help.`);
    const folder = flags.folder === undefined ? mkdtempSync(join(tmpdir(), "parley-results-")) : resolve(flags.folder);
    try {
      for (const product of products.filter(({ name }) => names.includes("all") || names.includes(name)))
        await reproduce(product, folder, flags).catch((error: unknown) => {
          process.stderr.write(`${product.name}: ${String(error)}\n`);
          process.exitCode = 1;
        });
      writeMatrix(flags.set);
    } finally {
      if (flags.folder === undefined) rmSync(folder, { recursive: true, force: true });
    }
  });

async function reproduce(product: Product, work: string, { set, profile }: Flags): Promise<void> {
  const folder = join(work, product.name);
  mkdirSync(folder, { recursive: true });
  const shared = { ...process.env, ROOT: root, FOLDER: folder, KEY: key, PATH: pathWithNode(), ...prepareTools(work) };
  const variables = { ...shared, MODEL: fill(product.model, shared) } as Variables; // the environment holds texts only
  for (const [name, text] of Object.entries(product.files ?? {})) writeFileSync(join(folder, name), text);
  for (const line of product.install) bash(line, variables);
  const profiles = profile.split(",").filter((name) => name !== "sandwich");
  if (profiles.length > 0) await judgeProfiles(product, variables, { set, profiles });
  if (product.kind === "gateway" && profile.includes("sandwich")) await judgeSandwich(product, variables, set);
}

const pathWithNode = (): string => [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
const bash = (line: string, env: Variables): void =>
  void execFileSync("bash", ["-ec", line], { env, stdio: ["ignore", 2, 2] });

/** Installs uv, and writes the demonstration weights in the format of Hugging Face. */
function prepareTools(work: string): { readonly UV: string; readonly MODEL_FOLDER: string } {
  const [uv, model] = [join(work, "uv/bin/uv"), join(work, "model-1")];
  const env = { ...process.env, PATH: pathWithNode() } as Variables; // the environment holds texts only
  bash(
    `test -x "${uv}" || { python3.11 -m venv "${work}/uv" && "${work}/uv/bin/pip" install --quiet uv==0.13.8; }`,
    env,
  );
  const derive = `
    import { readFileSync } from "node:fs";
    import { deriveModelFolder } from "@parley/inference/vllm";
    const source = "demo-models/model-1";
    const { sha256 } = JSON.parse(readFileSync("demo-models/hashes.json", "utf8"))["model-1/model.safetensors"];
    deriveModelFolder({ source, gguf: "model-1.bf16.gguf", sha256, target: ${JSON.stringify(model)} });`;
  execFileSync(process.execPath, ["--input-type=module", "--eval", derive], { cwd: root, stdio: ["ignore", 2, 2] });
  return { UV: uv, MODEL_FOLDER: model };
}

async function judgeProfiles(
  product: Product,
  variables: Variables,
  { set, profiles }: { readonly set: string; readonly profiles: readonly string[] },
): Promise<void> {
  const upstreamPort = await freePort();
  await using behind = product.kind === "gateway" ? await startParley(variables, upstreamPort) : undefined;
  await using server = await startProduct(product, { ...variables, UPSTREAM: behind?.origin ?? "" });
  await server.answers();
  for (const profile of profiles) {
    const args = [
      "run",
      "--requirements",
      set,
      "--profile",
      profile,
      "--base-url",
      server.baseUrl,
      ...flagsOf(product, server.variables),
    ];
    const report = (await judge(args, server.variables, "report.json")) as Report; // the suite wrote it
    const origin = originOf(product, { set, profile, args });
    writeLines(fileOf(origin), resultOf(origin, report));
    process.stdout.write(
      `${product.name} ${profile}: exit ${report.exitCode}, ${JSON.stringify(report.counts)}, ${report.interop}\n`,
    );
  }
}

async function judgeSandwich(product: Product, variables: Variables, set: string): Promise<void> {
  const port = await freePort();
  await using server = await startProduct(product, { ...variables, UPSTREAM: `http://127.0.0.1:${port}` });
  const args = [
    "sandwich",
    "--base-url",
    server.baseUrl,
    "--upstream-port",
    String(port),
    "--upstream-model",
    product.model,
    "--wait",
    "240",
    "--model",
    product.model,
  ];
  const headers = (product.headers ?? []).flatMap((header) => ["--header", fill(header, server.variables)]);
  const report = (await judge([...args, ...headers], server.variables, "sandwich.json")) as SandwichReport; // the suite wrote it
  const origin = originOf(product, { set, profile: "sandwich", args: [...args, ...headers] });
  writeLines(fileOf(origin), sandwichResultOf(origin, report));
  process.stdout.write(`${product.name} sandwich: exit ${report.exitCode}, ${JSON.stringify(report.counts)}\n`);
}

const flagsOf = ({ levels, modelIs, headers = [] }: Product, variables: Variables): string[] => [
  "--model",
  variables["MODEL"] ?? "",
  "--level",
  levels.join(","),
  "--model-is",
  modelIs.join(","),
  ...headers.flatMap((header) => ["--header", fill(header, variables)]),
];

/** Runs the suite and returns its report. Its exit code says what it found, so it is not an error here. */
async function judge(args: readonly string[], env: Variables, file: string): Promise<unknown> {
  const folder = join(env["FOLDER"] ?? "", "report");
  const child = spawn(process.execPath, [cli, ...args, "--report", folder], {
    env: { ...env, API_KEY: key },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await new Promise((done) => child.once("exit", done));
  // Folders of this machine are written by their variables.
  const hidden = ["MODEL_FOLDER", "FOLDER", "ROOT"].filter((name) => (env[name] ?? "") !== "");
  const text = readFileSync(join(folder, file), "utf8");
  return JSON.parse(hidden.reduce((all, name) => all.replaceAll(env[name] ?? "", name), text));
}

function originOf(
  { name, title, kind, version, from, behind, note }: Product,
  { set, profile, args }: { readonly set: string; readonly profile: string; readonly args: readonly string[] },
): Origin {
  const words = args.map((word) => word.replaceAll(/127\.0\.0\.1:\d+/g, "HOST:PORT").replace(/^\/.*/, "MODEL_FOLDER"));
  return {
    product: { name, title, kind, version, from, behind, ...(note !== undefined && { note }) },
    set,
    profile,
    date: new Date().toISOString().slice(0, 10),
    maxAgeDays,
    checks: hashChecks(profile, set),
    command: `parley-conformance ${words.map((word) => (/^[\w./:,-]+$/.test(word) ? word : `'${word}'`)).join(" ")}`,
    reproduce: `npx -y pnpm@12.21.0 results ${name} --set ${set} --profile ${profile}`,
  };
}

await program.parseAsync();
