import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "@parley/server/testing";
import { Kubernetes } from "./kubernetes.ts";
import type { Answer } from "./kubernetes.ts";
import { fileOf, frontFiles, modes } from "./modes.ts";
import { chart, definitionFiles, etcd, flagsOf, helm, image, kubeApiserver, render } from "./tools.ts";
import type { Values } from "./tools.ts";

const run = promisify(execFile);
const canRun = helm !== undefined && kubeApiserver !== undefined && etcd !== undefined;
const needs =
  "it would run with helm, kube-apiserver and etcd on the PATH or in PARLEY_TEST_HELM, PARLEY_TEST_KUBE_APISERVER and PARLEY_TEST_ETCD";

/** The parts of an object that these tests change. */
interface Sent {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec?: {
    readonly template?: { readonly metadata: object; readonly spec: { readonly volumes: readonly object[] } };
  };
}
/** Kinds whose definitions come with other products. */
const foreignKinds = new Set(["HTTPRoute", "PrometheusRule", "ScaledObject", "ServiceMonitor"]);

describe.skipIf(!canRun)(`the chart on an API server of Kubernetes, which runs no pods (${needs})`, () => {
  let kubernetes: Kubernetes;
  let folder = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-chart-"));
    kubernetes = await Kubernetes.start({ api: await freePort(), etcd: await freePort(), peer: await freePort() });
    await make("/api/v1/namespaces", { metadata: { name: "llm" } });
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (const file of definitionFiles) await make(definitions, readFileSync(file, "utf8"), "application/yaml");
    for (const [name, keys] of Object.entries(secrets)) await makeSecret(name, keys);
    const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await make("/api/v1/namespaces/llm/persistentvolumeclaims", { metadata: { name: "data-parley-0" }, spec: claim });
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await makeSecret("line", ["PARLEY_API_KEY"], "secret\n");
    await make("/api/v1/namespaces", { metadata: { name: "restricted", labels } });
    await make("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: "important" }, value: 1 });
  });
  afterAll(async () => {
    await kubernetes[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(async () => void (await helmOf(["uninstall", "parley", "--ignore-not-found"])));

  /** The Secrets that the modes name, with their keys. */
  const secrets = {
    database: ["PARLEY_DATABASE_URL", "uri"],
    valkey: ["PARLEY_VALKEY_URL"],
    "first-key": ["PARLEY_API_KEY"],
    audit: ["token"],
  };
  const make = async (path: string, body: unknown, type?: string): Promise<void> => {
    const { status, body: answer } = await kubernetes.ask("POST", path, body, type);
    if (status !== 201) throw new Error(`${path} was not made: ${answer.message}`);
  };
  const makeSecret = (name: string, keys: readonly string[], value = "secret"): Promise<void> =>
    make("/api/v1/namespaces/llm/secrets", {
      metadata: { name },
      stringData: Object.fromEntries(keys.map((key) => [key, value])),
    });

  /** Runs Helm. @returns what it said on standard error, and its exit code */
  async function helmOf(args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
    const options = { env: { ...process.env, KUBECONFIG: kubernetes.kubeconfig }, maxBuffer: 2 ** 26 };
    return run(helm ?? "", ["--namespace", "llm", ...args], options).then(
      ({ stderr }) => ({ code: 0, said: stderr }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, said: stderr }),
    );
  }

  /** Runs Helm, and takes the part of the controller that ends its hook. */
  async function helmWithHook(
    args: readonly string[],
    end: "Complete" | "Failed" = "Complete",
  ): ReturnType<typeof helmOf> {
    const running = helmOf([...args, "--timeout", "30s"]);
    const over = running.then(() => true);
    const path = "/apis/batch/v1/namespaces/llm/jobs/parley-tables/status";
    while (!(await Promise.race([over, wait(200, false)])))
      await kubernetes.ask("PATCH", path, statusOf(end), "application/merge-patch+json");
    return running;
  }
  const statusOf = (end: "Complete" | "Failed"): object => {
    const time = "2026-12-01T00:00:00Z";
    const rest = { status: "True", lastTransitionTime: time };
    const before = { ...rest, type: end === "Complete" ? "SuccessCriteriaMet" : "FailureTarget" };
    const counts = end === "Complete" ? { completionTime: time, succeeded: 1 } : { failed: 1 };
    return { status: { startTime: time, ...counts, conditions: [before, { ...rest, type: end }] } };
  };

  const install = (values: Values, ...flags: readonly string[]): ReturnType<typeof helmOf> =>
    helmWithHook(["install", "parley", chart, ...flagsOf(values), ...flags]);
  const upgrade = (values: Values, end?: "Failed"): ReturnType<typeof helmOf> =>
    helmWithHook(["upgrade", "parley", chart, ...flagsOf(values)], end);
  const get = (kind: string, name = "parley", group = "/apis/apps/v1"): Promise<Answer> =>
    kubernetes.ask("GET", `${group}/namespaces/llm/${kind}/${name}`);
  const replicas = async (): Promise<unknown> => (await get("deployments")).body.spec?.["replicas"];
  const settings = async (): Promise<string | undefined> =>
    (await get("configmaps", "parley", "/api/v1")).body.data?.["parley.yaml"];

  test("one server: install, upgrade, rollback, uninstall", async () => {
    expect(await install({ ...image, config: { queue_length: 1 } })).toMatchObject({ code: 0 });
    expect(await settings()).toBe("queue_length: 1\n");
    const pod = { terminationGracePeriodSeconds: 45, enableServiceLinks: false };
    expect((await get("statefulsets")).body.spec).toMatchObject({ replicas: 1, template: { spec: pod } });
    expect(await upgrade({ ...image, config: { queue_length: 2 } })).toMatchObject({ code: 0 });
    expect(await settings()).toBe("queue_length: 2\n");
    expect(await helmWithHook(["rollback", "parley", "1"])).toMatchObject({ code: 0 });
    expect(await settings()).toBe("queue_length: 1\n");
    expect(await helmOf(["uninstall", "parley"])).toMatchObject({ code: 0 });
    expect(await get("statefulsets")).toMatchObject({ status: 404 });
  });

  test("several servers: install, upgrade, rollback, uninstall, each after its hook", async () => {
    const shared = modes["several servers"] ?? {};
    expect(await install(shared)).toMatchObject({ code: 0 });
    expect(await replicas()).toBe(3);
    expect(await get("poddisruptionbudgets", "parley", "/apis/policy/v1")).toMatchObject({ status: 200 });
    expect(await upgrade({ ...shared, replicas: 4 })).toMatchObject({ code: 0 });
    expect(await replicas()).toBe(4);
    expect(await helmWithHook(["rollback", "parley", "1"])).toMatchObject({ code: 0 });
    expect(await replicas()).toBe(3);
    expect(await helmOf(["uninstall", "parley"])).toMatchObject({ code: 0 });
    expect(await get("deployments")).toMatchObject({ status: 404 });
  });

  test("replaces no server where the tables could not be brought up to date", async () => {
    const shared = modes["several servers"] ?? {};
    expect(await install(shared)).toMatchObject({ code: 0 });
    const failed = await upgrade({ ...shared, replicas: 5 }, "Failed");
    expect(failed.code).not.toBe(0);
    expect(failed.said).toContain("pre-upgrade hooks failed");
    expect(await replicas()).toBe(3);
  });

  test("goes from one server to several, with the hook that moves its volume once it has stopped", async () => {
    const moved = modes["several servers that take over a volume"] ?? {};
    expect(await install(image)).toMatchObject({ code: 0 });
    expect((await upgrade(moved)).said).toContain("scale statefulset/parley --replicas 0");
    const path = "/apis/apps/v1/namespaces/llm/statefulsets/parley";
    await kubernetes.ask("PATCH", path, { spec: { replicas: 0 } }, "application/merge-patch+json");
    expect(await upgrade(moved)).toMatchObject({ code: 0 });
    expect(await get("statefulsets")).toMatchObject({ status: 404 });
    expect(await replicas()).toBe(3);
  });

  /** Modes with a ServiceMonitor, a PrometheusRule, an HTTPRoute or a ScaledObject. */
  const foreign = ["one server with everything", "several servers with KEDA"];
  test.each(Object.keys(modes).filter((mode) => !foreign.includes(mode)))(
    "%s: the API server takes every object",
    async (mode) => {
      expect(await install(modes[mode] ?? {})).toMatchObject({ code: 0 });
    },
  );
  test.skipIf(definitionFiles.length === 0).each(foreign)(
    "%s: the API server takes every object (it would run with definitions of the foreign kinds in the folder PARLEY_TEST_CRDS)",
    async (mode) => {
      expect(await install(modes[mode] ?? {})).toMatchObject({ code: 0 });
    },
  );

  test.each(frontFiles)("%s: the API server takes every object", async (name) => {
    expect(await install(image, "--values", fileOf(name))).toMatchObject({ code: 0 });
  });

  /** Sends an object that is checked strictly and not kept. @returns the reason of a refusal */
  async function checkStrictly(object: Pick<Sent, "apiVersion" | "kind">): Promise<string | undefined> {
    const { apiVersion, kind } = object;
    const plural = kind.toLowerCase().replace(/y$/, "ie").replace(/s$/, "se");
    const group = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
    const path = `${group}/namespaces/restricted/${plural}s?dryRun=All&fieldValidation=Strict`;
    const { status, body } = await kubernetes.ask("POST", path, object);
    return status === 201 ? undefined : `${kind}: ${body.message}`;
  }

  test.each([
    ...Object.entries(modes).map(([mode, values]) => [mode, values, []] as const),
    ...frontFiles.map((name) => [name, image, ["--values", fileOf(name)]] as const),
  ])(
    "%s: no field is unknown, and a namespace with the strictest rules takes the pods",
    async (_title, values, flags) => {
      for (const document of parseAllDocuments(render(values, ...flags))) {
        const object = document.toJS() as Sent | null; // our templates
        if (!object || (foreignKinds.has(object.kind) && definitionFiles.length === 0)) continue;
        expect(await checkStrictly(object)).toBeUndefined();
        const { metadata, spec } = object.spec?.template ?? {};
        if (!spec) continue;
        const claims = object.kind === "StatefulSet" ? [{ name: "data", emptyDir: {} }] : [];
        const named = { ...metadata, name: "pod" };
        const volumes = [...spec.volumes, ...claims];
        const pod = { apiVersion: "v1", kind: "Pod", metadata: named, spec: { ...spec, volumes } };
        expect(await checkStrictly(pod)).toBeUndefined();
      }
    },
  );

  test("an upgrade that turns the autoscaler on keeps the servers that run", async () => {
    expect(await install(modes["several servers"] ?? {})).toMatchObject({ code: 0 });
    expect(await upgrade(modes["several servers with an autoscaler"] ?? {})).toMatchObject({ code: 0 });
    expect(await replicas()).toBe(3);
  });

  test("the commands of Helm in the guide work, in their order", async () => {
    const guide = readFileSync(join(chart, "../../docs/guides/kubernetes.md"), "utf8");
    const values = join(folder, "my-values.yaml");
    writeFileSync(values, /```yaml\n([^]*?)```/.exec(guide)?.[1] ?? "");
    const commands = guide.match(/(?<=^helm )(?:install|upgrade|rollback) .*$/gm) ?? [];
    expect(commands.length).toBeGreaterThan(4);
    for (const command of commands) {
      const named = command.replaceAll("deploy/chart", chart).replaceAll("my-values.yaml", values);
      expect({ command, ...(await helmWithHook(named.split(" "))) }).toMatchObject({ code: 0 });
    }
    expect(await settings()).toContain("front: llm-d");
  });

  test.each([
    [
      "a Secret that is not there",
      { "secrets.apiKey": { name: "nobody", key: "PARLEY_API_KEY" } },
      "create secret generic nobody",
    ],
    [
      "a key that the Secret lacks",
      { "secrets.databaseUrl": { name: "database", key: "url" } },
      "It has: PARLEY_DATABASE_URL, uri.",
    ],
    [
      "a Secret from a file that ends with a line end",
      { "secrets.apiKey": { name: "line", key: "PARLEY_API_KEY" } },
      "ends with a line end",
    ],
    [
      "a volume to move that is not there",
      { ...modes["several servers"], moveFrom: "data-parley-7" },
      "moveFrom names the claim data-parley-7, which is not in the namespace llm",
    ],
  ])("refuses %s, and installs nothing", async (_fault, values, sentence) => {
    const refused = await install({ ...image, ...values });
    expect(refused.code).not.toBe(0);
    expect(refused.said).toContain(sentence);
    expect(await get("statefulsets")).toMatchObject({ status: 404 });
  });

  test("a Secret is not looked for with checkSecrets: false", async () => {
    const values = { ...image, "secrets.apiKey.name": "nobody", checkSecrets: false };
    expect(await install(values)).toMatchObject({ code: 0 });
  });

  /** Installs a copy of the chart with one file changed. */
  function installChanged(name: string, change: (text: string) => string, values: Values): ReturnType<typeof helmOf> {
    const copy = join(folder, "changed");
    rmSync(copy, { recursive: true, force: true });
    cpSync(chart, copy, { recursive: true, dereference: true });
    const file = join(copy, name);
    const text = readFileSync(file, "utf8");
    expect(change(text)).not.toBe(text);
    writeFileSync(file, change(text));
    return helmWithHook(["install", "parley", copy, ...flagsOf(values)]);
  }

  test("--reuse-values upgrades from a chart that lacks some of the values", async () => {
    const older = (text: string): string => text.replace(/^admin:\n(?: .+\n)+/m, "").replace(/^  ipFamilies:.+\n/m, "");
    expect(await installChanged("values.yaml", older, image)).toMatchObject({ code: 0 });
    const flags = ["--reuse-values", "--set", "admin.enabled=true"];
    expect(await helmWithHook(["upgrade", "parley", chart, ...flags])).toMatchObject({ code: 0 });
    expect((await get("services", "parley-admin", "/api/v1")).body.spec).toMatchObject({ ports: [{ port: 9465 }] });
  });

  test.each([
    [
      "a disruption budget with both bounds",
      "templates/scaling.yaml",
      "  minAvailable:",
      "  maxUnavailable: 1\n  minAvailable:",
      "minAvailable and maxUnavailable cannot be both set",
    ],
    ["a negative user id", "templates/_names.tpl", "runAsUser: 1000", "runAsUser: -1", "must be between 0 and"],
  ] as const)("the API server refuses %s in a changed template", async (_fault, template, right, wrong, sentence) => {
    const change = (text: string): string => text.replace(right, wrong);
    const refused = await installChanged(template, change, modes["several servers with an autoscaler"] ?? {});
    expect(refused.code).not.toBe(0);
    expect(refused.said).toContain(sentence);
  });

  test("the API server takes a misspelt field in silence: only kubernetes-validate finds it", async () => {
    expect(render(image)).toContain("livenessProbe:");
    const change = (text: string): string => text.replace("livenessProbe:", "livenesProbe:");
    expect(await installChanged("templates/server.yaml", change, image)).toMatchObject({ code: 0 });
  });
});
