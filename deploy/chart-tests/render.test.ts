import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
      "KEDA without Prometheus",
      { ...modes["several servers"], autoscaling: { enabled: true, queueWaiting: 4, keda: { enabled: true } } },
      "autoscaling.keda.prometheusUrl is missing",
    ],
    [
      "a volume to move without PostgreSQL",
      { ...image, moveFrom: "data-parley-0" },
      "moveFrom needs secrets.databaseUrl",
    ],
  ] as const)("refuses %s, and says what to do", (_fault, values, sentence) => {
    expect(refusal(values)).toContain(sentence);
  });

  test("names all faults at once", () => {
    expect(refusal({ replicas: 2, "image.tag": "" }).match(/^(?:image|replicas).+\.$/gm)).toHaveLength(3);
  });
});
