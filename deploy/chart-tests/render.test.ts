import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { fileOf, frontFiles, modes } from "./modes.ts";
import { chart, flagsOf, helm, image, kubernetesValidate, kubernetesVersion, refusal, render } from "./tools.ts";
import type { Values } from "./tools.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-chart-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Kinds that come with other products. The schemas of Kubernetes do not have them. */
const foreign = new Set(["HTTPRoute", "PrometheusRule", "ScaledObject", "ServiceMonitor"]);

const defaults = parse(readFileSync(join(chart, "values.yaml"), "utf8")) as Readonly<Record<string, unknown>>; // our own file

/** Every way to render the chart: its modes, and each values file with one server and with several. */
const rendered: readonly (readonly [title: string, values: Values, flags: readonly string[]])[] = [
  ...Object.entries(modes).map(([title, values]) => [title, values, []] as const),
  ...frontFiles.flatMap((name) => [
    [`one server, ${name}`, image, ["--values", fileOf(name)]] as const,
    [`several servers, ${name}`, modes["several servers"] ?? {}, ["--values", fileOf(name)]] as const,
  ]),
];

describe.skipIf(helm === undefined)("the chart (it would run with helm on the PATH or in PARLEY_TEST_HELM)", () => {
  describe.skipIf(kubernetesValidate === undefined)(
    "as kubernetes-validate sees it (it would run with that program on the PATH or in PARLEY_TEST_KUBERNETES_VALIDATE)",
    () => {
      const validate = (yaml: string, version = kubernetesVersion): { code: number | null; said: string } => {
        const file = join(folder, "rendered.yaml");
        writeFileSync(file, yaml);
        const args = ["--strict", "-k", version.replace(/\.0$/, ""), file];
        const { status: code, stdout, stderr } = spawnSync(kubernetesValidate ?? "", args, { encoding: "utf8" });
        return { code, said: stdout + stderr };
      };

      test.each(rendered)("%s: every object is valid, strictly", (_title, values, flags) => {
        const yaml = render(values, ...flags);
        const { code, said } = validate(yaml);
        expect({ code, said }).toMatchObject({ code: 0 });
        const kinds = yaml.match(/^kind: \w+$/gm) ?? [];
        const unknown = [...said.matchAll(/find schema for kind (\w+)/g)].map(([, kind = ""]) => kind);
        expect(unknown.filter((kind) => !foreign.has(kind))).toEqual([]);
        expect(said.match(/ passed for resource /g)?.length).toBe(kinds.length - unknown.length);
      });

      test("also for the oldest version that the chart names", () => {
        expect(validate(render(modes["several servers with an autoscaler"] ?? {}), "1.28.0")).toMatchObject({
          code: 0,
        });
      });

      test.each([
        ["a misspelt field", "livenessProbe:", "livenesProbe:", "livenesProbe"],
        ["a field of the wrong type", "periodSeconds: 10", "periodSeconds: often", "often"],
      ])("finds %s in a changed template", (_fault, right, wrong, word) => {
        const { code, said } = validate(render(image).replace(right, wrong));
        expect(code).not.toBe(0);
        expect(said).toContain(word);
      });

      test.each([
        ["a disruption budget with both bounds", "  minAvailable: 50%", "  minAvailable: 50%\n  maxUnavailable: 1"],
        ["a negative user id", "runAsUser: 1000", "runAsUser: -1"],
      ])("does not find %s, so an API server has to see the objects, too", (_fault, right, wrong) => {
        const yaml = render(modes["several servers with an autoscaler"] ?? {});
        expect(yaml).toContain(right);
        expect(validate(yaml.replace(right, wrong))).toMatchObject({ code: 0 });
      });
    },
  );

  test("passes helm lint, and its package renders the same", () => {
    const run = (...args: readonly string[]): string =>
      execFileSync(helm ?? "", args, { encoding: "utf8", cwd: folder });
    expect(run("lint", "--strict", chart, ...flagsOf(image))).toContain("0 chart(s) failed");
    const [, file = ""] = /saved it to: (\S+)/.exec(run("package", chart)) ?? [];
    const values = modes["one server with everything"] ?? {};
    const kubernetes = ["--kube-version", kubernetesVersion, "--namespace", "llm"];
    expect(run("template", "parley", file, ...kubernetes, ...flagsOf(values))).toBe(render(values));
  });

  test.each([
    ["no image", {}, "image.repository is missing"],
    ["an empty tag", { ...image, "image.tag": "" }, "image.tag is empty"],
    [
      "several servers without shared state",
      { ...image, replicas: 2 },
      "replicas is 2, and several servers need shared state",
    ],
    ["an autoscaler without shared state", { ...image, "autoscaling.enabled": true }, "autoscaling needs shared state"],
    ["Valkey alone", { ...image, "secrets.valkeyUrl.name": "valkey" }, "secrets.valkeyUrl needs secrets.databaseUrl"],
    ["a token without its Secret", { ...image, "secrets.others.A": { key: "a" } }, "secrets.others.A.name is missing"],
    [
      "a grace period below the drain",
      { ...image, terminationGracePeriodSeconds: 30 },
      "lameDuckSeconds + drainSeconds = 35 seconds: set at least 40",
    ],
    ["an unknown front", { ...image, "config.models.a.remote.front": "sglang" }, "/config/models/a/remote/front"],
    ["an unknown value", { ...image, replicaCount: 2 }, "'replicaCount' not allowed"],
    ["an unknown setting", { ...image, "config.queue_lenght": 2 }, "'queue_lenght' not allowed"],
    [
      "a setting that the chart has",
      { ...image, "config.port": 9000 },
      "config.port is set by the chart: use service.port.",
    ],
    ["a secret in clear", { ...image, "env.PARLEY_API_KEY": "x" }, "name that in secrets.apiKey"],
    ["a setting as a variable", { ...image, "env.PARLEY_QUEUE_LENGHT": 3 }, "write it under config"],
    ["an Ingress without a host", { ...image, "ingress.enabled": true }, "ingress.host is missing"],
    ["an HTTPRoute without a Gateway", { ...image, "httpRoute.enabled": true }, "httpRoute.parentRefs is missing"],
    [
      "two bounds of disruption",
      { ...image, "disruptionBudget.minAvailable": 1 },
      "needs one of maxUnavailable and minAvailable",
    ],
    [
      "a budget that stops every drain",
      { ...modes["several servers"], disruptionBudget: { minAvailable: 3, maxUnavailable: null } },
      "no node could ever be drained",
    ],
    [
      "a share that stops every drain, because it is rounded up",
      { ...modes["several servers"], disruptionBudget: { minAvailable: "70%", maxUnavailable: null } },
      "no node could ever be drained",
    ],
    [
      "a share of a processor that nothing requests",
      { ...modes["several servers with an autoscaler"], "resources.requests": null },
      "autoscaling.cpuPercent is a share of resources.requests.cpu, which is missing",
    ],
    [
      "KEDA without Prometheus",
      { ...modes["several servers"], autoscaling: { enabled: true, queueWaiting: 4, keda: { enabled: true } } },
      "autoscaling.keda.prometheusUrl is missing",
    ],
    [
      "a volume to move without PostgreSQL",
      { ...image, moveFrom: "data-parley-0" },
      "moveFrom needs secrets.databaseUrl",
    ],
    [
      "a tag in the repository",
      { "image.repository": "registry.example:5000/parley:1.0" },
      "put the tag into image.tag",
    ],
    ["a repository with capitals", { "image.repository": "registry.example/Parley" }, "use small letters"],
    ["two ports that are one", { ...image, "metrics.port": 8080 }, "neither is 8080"],
    ["a volume of the chart's", { ...image, volumes: [{ name: "tmp", emptyDir: {} }] }, "volumes has tmp twice"],
    [
      "a mount without its volume",
      { ...image, volumeMounts: [{ name: "a", mountPath: "/a" }] },
      "volumeMounts names a, which volumes does not have",
    ],
    [
      "a mount over the data",
      { ...image, volumes: [{ name: "a", emptyDir: {} }], volumeMounts: [{ name: "a", mountPath: "/data/" }] },
      "volumeMounts has the place /data twice",
    ],
    [
      "a label of the chart's",
      { ...image, podLabels: { "app.kubernetes.io/name": "a" } },
      "podLabels.app.kubernetes.io/name",
    ],
    [
      "a label of the chart's for Prometheus",
      { ...image, "metrics.labels": { "app.kubernetes.io/instance": "a" } },
      "metrics.labels.app.kubernetes.io/instance is set by the chart",
    ],
    ["the file of a secret", { ...image, "env.PARLEY_API_KEY_FILE": "/a" }, "name that in secrets.apiKey"],
    ["a misspelt peer", { ...image, "networkPolicy.callers": [{ podSelectr: {} }] }, "'podSelectr' not allowed"],
    ["a label of the wrong type", { ...image, nodeSelector: { gpu: true } }, "/nodeSelector/gpu"],
    ["an amount that is not one", { ...image, "resources.limits.memory": "4 GB" }, "/resources/limits/memory"],
    ["a host that is not one", { ...image, ingress: { enabled: true, host: "a..b" } }, "/ingress/host"],
    [
      "the address of the admin API as a setting",
      { ...image, "config.admin_port": 9465 },
      "config.admin_port is set by the chart: use admin.enabled and admin.port.",
    ],
    [
      "a variable twice",
      { ...image, "env.A": "1", "secrets.others.A": { name: "a", key: "a" } },
      "env.A is in secrets.others, too",
    ],
    [
      "a secret of the chart's as another one",
      { ...image, "secrets.others.PARLEY_API_KEY": { name: "a", key: "a" } },
      "secrets.others.PARLEY_API_KEY has a place of its own: secrets.apiKey.",
    ],
    [
      "a token that would be a setting",
      { ...image, "secrets.others.PARLEY_DATA_DIR": { name: "a", key: "a" } },
      "secrets.others.PARLEY_DATA_DIR would be read as a setting",
    ],
    [
      "a model whose token is nowhere",
      { ...image, "config.models.a.remote": { urls: ["http://a"], api_key_env: "AUDIT_KEY" } },
      "name its Secret in secrets.others.AUDIT_KEY.",
    ],
  ] as const)("refuses %s, and says what to do", (_fault, values, sentence) => {
    expect(refusal(values)).toContain(sentence);
  });

  test("refuses a name of the release that no Service can have", () => {
    for (const release of ["1parley", "a.parley"])
      expect(refusal(image, release)).toContain("choose a name of letters");
    expect(refusal(image, "a".repeat(53))).toBe("");
  });

  test("counts a budget that --set gives", () => {
    const flags = ["--set", "disruptionBudget.minAvailable=3,disruptionBudget.maxUnavailable=null"];
    expect(refusal(modes["several servers"] ?? {}, "parley", ...flags)).toContain("no node could ever be drained");
  });

  test("the Job has the labels and annotations of the servers' pods", () => {
    const marked = { podLabels: { team: "a" }, podAnnotations: { "sidecar.istio.io/inject": "false" } };
    const yaml = render({ ...modes["several servers"], ...marked });
    for (const line of ["team: a", 'sidecar.istio.io/inject: "false"'])
      expect(yaml.match(new RegExp(`^        ${line}$`, "gm"))).toHaveLength(2);
  });

  test("a large number in env stays one", () => {
    expect(render({ ...image, env: { A: 12_000_000, B: true } })).toMatch(/A, value: "12000000".*\n.*B, value: "true"/);
  });

  test("the servers of a Service with IPv6 listen on both families", () => {
    expect(render(image)).not.toContain("ipFamil");
    const both = render({ ...image, "service.ipFamilies": ["IPv6", "IPv4"] });
    expect(both.match(/^  ipFamilyPolicy: RequireDualStack$/gm)).toHaveLength(2);
    expect(both.match(/_?HOST, value: "::" /g)).toHaveLength(2);
  });

  test("only the peers that the values name reach the admin API", () => {
    const callers = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "portal" } } }];
    const opened = render({ ...image, admin: { enabled: true, callers } });
    expect(opened).toContain('{ name: PARLEY_ADMIN_PORT, value: "9465" }');
    expect(opened).toContain("port: admin }]\n      from:");
    expect(opened).toContain("name: parley-admin");
    expect(render({ ...image, "admin.enabled": true })).not.toContain("port: admin }]\n      from:");
    expect(render(image)).not.toContain("admin");
  });

  test("takes the default of each value that is absent, as after --reuse-values and an older chart", () => {
    const members = Object.entries(defaults).flatMap(([name, value]) =>
      name === "resources" || value === null || typeof value !== "object"
        ? []
        : Object.keys(value).map((member) => `${name}.${member}`),
    );
    for (const places of [Object.keys(defaults).filter((name) => name !== "image"), members]) {
      const absent = Object.fromEntries(places.map((place) => [place, null]));
      expect(render({ ...absent, ...image })).toBe(render(image));
    }
  });

  test("names all faults at once", () => {
    expect(refusal({ replicas: 2, "image.tag": "" }).match(/^(?:image|replicas).+\.$/gm)).toHaveLength(3);
  });
});
