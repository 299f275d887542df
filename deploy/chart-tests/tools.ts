import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

// The programs and files that the tests of the chart need. A variable names each of them; otherwise the PATH has it.

/** The chart in this tree. */
export const chart = join(import.meta.dirname, "../chart");

/** Finds a program by its variable or on the PATH; undefined if neither has it. */
function find(variable: string, name: string): string | undefined {
  const named = process.env[variable];
  const candidates =
    named === undefined ? (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name)) : [named];
  return candidates.find((path) => existsSync(path));
}

/** Helm 3. `go install helm.sh/helm/v3/cmd/helm@v3.19.2` builds it. */
export const helm = find("PARLEY_TEST_HELM", "helm");
/** PyPI's `kubernetes-validate`. */
export const kubernetesValidate = find("PARLEY_TEST_KUBERNETES_VALIDATE", "kubernetes-validate");
export const kubeApiserver = find("PARLEY_TEST_KUBE_APISERVER", "kube-apiserver");
export const etcd = find("PARLEY_TEST_ETCD", "etcd");

/** A folder with the definitions of the kinds that Kubernetes does not have, such as ServiceMonitor, as YAML files. */
const definitionsFolder = process.env["PARLEY_TEST_CRDS"];
export const definitionFiles: readonly string[] =
  definitionsFolder === undefined
    ? []
    : readdirSync(definitionsFolder)
        .filter((name) => name.endsWith(".yaml"))
        .map((name) => join(definitionsFolder, name));

/** The version of Kubernetes for which the chart is rendered without a cluster. */
export const kubernetesVersion = "1.34.0";

/** Arguments of Helm for values: a member by its path, or a file. A value that is not text is given as JSON. */
export type Values = Readonly<Record<string, unknown>>;

export const flagsOf = (values: Values): string[] =>
  Object.entries(values).flatMap(([path, value]) => ["--set-json", `${path}=${JSON.stringify(value)}`]);

/** The values that every installation needs. */
export const image: Values = { "image.repository": "registry.example/parley" };

/** Renders the chart. @returns YAML with all documents, hooks included @throws {Error} with Helm's message */
export function render(values: Values, ...flags: readonly string[]): string {
  const all = ["template", "parley", chart, "--namespace", "llm", "--kube-version", kubernetesVersion];
  return execFileSync(helm ?? "", [...all, ...flagsOf(values), ...flags], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Returns Helm's message for values that it refuses; empty if it takes them. */
export function refusal(values: Values, release = "parley", ...flags: readonly string[]): string {
  const all = ["template", release, chart, "--kube-version", kubernetesVersion, ...flagsOf(values), ...flags];
  const { status, stderr } = spawnSync(helm ?? "", all, { encoding: "utf8" });
  return status === 0 ? "" : stderr;
}
