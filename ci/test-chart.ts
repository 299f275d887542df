import { execFile, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { exitCodeOf } from "@parley/common/exit-code";
import { MissingProgramError, prepareEnvironment } from "./python/environment.ts";
import { didNotRun } from "./step.ts";

/**
 * The tests of the chart with everything that they need; arguments go to vitest. Helm and the API server of Kubernetes are
 * built with Go the first time: about 5 minutes, and 300 MB that outlive the checkout. etcd comes from the system.
 */
const helmVersion = "v3.19.2";
const kubernetes = "1.34.2";
/** Definitions of kinds that come with other products: a module of Go, and files in it. */
const definitions = [
  ["sigs.k8s.io/gateway-api@v1.4.0", "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"],
  ["github.com/kedacore/keda/v2@v2.18.1", "config/crd/bases/keda.sh_scaledobjects.yaml"],
  ...["prometheusrules", "servicemonitors"].map(
    (kind) =>
      [
        "github.com/prometheus-operator/prometheus-operator@v0.85.0",
        `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
      ] as const,
  ),
] as const;

const folder = join(homedir(), ".cache/parley/chart");
const bin = join(folder, "bin");
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs Go. @returns its output @throws {MissingProgramError} if there is no Go */
async function go(cwd: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, GOBIN: bin, GOFLAGS: "-mod=mod" };
  const answer = await promisify(execFile)("go", args, { cwd, env, maxBuffer: 2 ** 28 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      throw new MissingProgramError("there is no Go on this machine");
    },
  );
  return answer.stdout;
}

/** Downloads a module of Go. @returns its folder, and its go.mod */
async function download(module: string): Promise<{ readonly Dir: string; readonly GoMod: string }> {
  return JSON.parse(await go(folder, "mod", "download", "-json", module)) as { Dir: string; GoMod: string }; // as Go documents it
}

async function buildHelm(): Promise<string> {
  const file = join(bin, `helm-${helmVersion}`);
  if (existsSync(file)) return file;
  say(`Building Helm ${helmVersion} (once).`);
  await go(folder, "install", `helm.sh/helm/v3/cmd/helm@${helmVersion}`);
  renameSync(join(bin, "helm"), file);
  return file;
}

/** Builds the API server. Its module takes a part of itself from other modules, whose versions begin with 0. */
async function buildApiServer(): Promise<string> {
  const file = join(bin, `kube-apiserver-${kubernetes}`);
  if (existsSync(file)) return file;
  say(`Building the API server of Kubernetes ${kubernetes} (once).`);
  const work = join(folder, `kubernetes-${kubernetes}`);
  mkdirSync(work, { recursive: true });
  const { GoMod } = await download(`k8s.io/kubernetes@v${kubernetes}`);
  const staged = [...readFileSync(GoMod, "utf8").matchAll(/(k8s\.io\/\S+) v0\.0\.0$/gm)].map(([, name = ""]) => name);
  const lines = [...new Set(staged)].map((name) => `replace ${name} => ${name} v${kubernetes.replace("1", "0")}`);
  const required = `require k8s.io/kubernetes v${kubernetes}`;
  writeFileSync(join(work, "go.mod"), `module chart\n\ngo 1.24\n\n${required}\n\n${lines.join("\n")}\n`);
  const [major, minor] = kubernetes.split(".");
  const version = { gitVersion: `v${kubernetes}`, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(version).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  await go(work, "build", "-ldflags", flags.join(" "), "-o", file, "k8s.io/kubernetes/cmd/kube-apiserver");
  return file;
}

async function collectDefinitions(): Promise<string> {
  const target = join(folder, "definitions");
  mkdirSync(target, { recursive: true });
  for (const [module, file] of definitions)
    if (!existsSync(join(target, basename(file))))
      copyFileSync(join((await download(module)).Dir, file), join(target, basename(file)));
  return target;
}

try {
  mkdirSync(bin, { recursive: true });
  const python = {
    title: "kubernetes-validate",
    folder,
    locks: [join(import.meta.dirname, "../deploy/chart-tests/requirements.lock")],
  };
  const given = process.env;
  const env = {
    ...given,
    // A program that a variable names is not built.
    PARLEY_TEST_HELM: given["PARLEY_TEST_HELM"] ?? (await buildHelm()),
    PARLEY_TEST_KUBE_APISERVER: given["PARLEY_TEST_KUBE_APISERVER"] ?? (await buildApiServer()),
    PARLEY_TEST_CRDS: given["PARLEY_TEST_CRDS"] ?? (await collectDefinitions()),
    PARLEY_TEST_KUBERNETES_VALIDATE:
      given["PARLEY_TEST_KUBERNETES_VALIDATE"] ?? join(await prepareEnvironment(python), "kubernetes-validate"),
  };
  const args = ["run", "--project", "chart", "--maxWorkers=1", ...process.argv.slice(2)];
  const program = join(import.meta.dirname, "../node_modules/.bin/vitest");
  process.exitCode = await exitCodeOf(spawn(program, args, { stdio: "inherit", env }));
} catch (error) {
  if (!(error instanceof MissingProgramError)) throw error;
  say(`the tests of the chart did not run: ${error.message}`);
  process.exitCode = didNotRun;
}
