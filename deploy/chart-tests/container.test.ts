import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { CliProcess, chatInit, freePort, miniId, parley, postgresFolder, TestPostgres } from "@parley/server/testing";
import { modes } from "./modes.ts";
import { helm, image, render } from "./tools.ts";
import type { Values } from "./tools.ts";

// Runs the program with the arguments, variables and files that the chart gives to its containers. No test here has a cluster.

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

/** The fields of the rendered objects that these tests read. */
interface Rendered {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly [
          { readonly args: readonly string[]; readonly env: readonly Variable[]; readonly readinessProbe: Probe },
        ];
      };
    };
  };
}
interface Probe {
  readonly httpGet: { readonly path: string };
}

const objectsOf = (values: Values): Rendered[] =>
  parseAllDocuments(render(values)).flatMap((document) => (document.toJS() as Rendered | null) ?? []); // our templates

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-container-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @param secrets the content of the Secrets, by `NAME/KEY` */
const environmentOf = (variables: readonly Variable[], secrets: Readonly<Record<string, string>>): [string, string][] =>
  variables.map(({ name, value, valueFrom }) => {
    const { name: secret = "", key = "" } = valueFrom?.secretKeyRef ?? {};
    return [name, value ?? secrets[`${secret}/${key}`] ?? ""];
  });

const key = "key-from-a-secret-0123456789";

describe.skipIf(helm === undefined)(
  "the chart's server (it would run with helm on the PATH or in PARLEY_TEST_HELM)",
  () => {
    const values: Values = {
      ...image,
      "secrets.apiKey.name": "first",
      lameDuckSeconds: 3,
      "admin.enabled": true,
      config: {
        models: { "model-1-mini": {} },
        jwt_keys: "https://login.invalid/keys",
        jwt_issuer: "https://login.invalid",
        jwt_audience: "parley",
        otlp_endpoint: "http://127.0.0.1:9",
        idempotency_seconds: 60,
        metrics_keys: 10,
      },
    };
    /** Addresses of this machine alone, in place of all addresses of a pod. */
    const hosts = { HOST: "127.0.0.1", PARLEY_METRICS_HOST: "127.0.0.1", PARLEY_ADMIN_HOST: "127.0.0.1" };
    let server: CliProcess;
    let url = "";
    let graceSeconds = 0;
    let readyPath = "";
    let given: readonly string[] = [];
    beforeAll(async () => {
      const objects = objectsOf(values);
      const pod = objects.find(({ kind }) => kind === "StatefulSet")?.spec?.template?.spec;
      const [container] = pod?.containers ?? [];
      graceSeconds = pod?.terminationGracePeriodSeconds ?? 0;
      readyPath = container?.readinessProbe.httpGet.path ?? "";
      // Kubernetes gives the root of a volume to the group of the pod.
      const data = join(folder, "data");
      mkdirSync(data);
      chmodSync(data, 0o2775);
      const settings = join(folder, "parley.yaml");
      writeFileSync(settings, objects.find(({ kind }) => kind === "ConfigMap")?.data?.["parley.yaml"] ?? "");
      const ports = { PORT: String(await freePort()), PARLEY_METRICS_PORT: "0", PARLEY_ADMIN_PORT: "0", ...hosts };
      const env = Object.fromEntries(environmentOf(container?.env ?? [], { "first/PARLEY_API_KEY": key }));
      given = Object.keys(env);
      url = `http://127.0.0.1:${ports.PORT}`;
      const args = (container?.args ?? []).map((argument) => argument.replace("/etc/parley/parley.yaml", settings));
      server = new CliProcess(args, { env: { ...env, PARLEY_DATA_DIR: data, ...ports } });
      await server.says(/Base URL/);
    });
    afterAll(() => server[Symbol.asyncDispose]());

    const ready = async (): Promise<number> => (await fetch(`${url}${readyPath}`)).status;
    const ask = (): Promise<Response> =>
      fetch(
        `${url}/v1/chat/completions`,
        chatInit({ model: miniId, max_completion_tokens: 4 }, { headers: { authorization: `Bearer ${key}` } }),
      );

    test("starts with these arguments and variables, and answers with the key of the Secret", async () => {
      expect(await ready()).toBe(200);
      expect((await ask()).status).toBe(200);
    });

    test("has the admin API, which asks for a key", async () => {
      expect(given).toEqual(expect.arrayContaining(["PARLEY_ADMIN_HOST", "PARLEY_ADMIN_PORT"]));
      const [, adminUrl = ""] = await server.says(/^Admin API +(\S+)$/m);
      expect((await fetch(`${adminUrl}/keys`)).status).toBe(401);
    });

    test("has the metrics by which KEDA and an autoscaler count servers", async () => {
      const [, metricsUrl = ""] = await server.says(/^Metrics +(\S+)$/m);
      const page = await (await fetch(metricsUrl)).text();
      const scaled = ["several servers with KEDA", "several servers with an autoscaler"].map((mode) =>
        render(modes[mode] ?? {}),
      );
      const asked = scaled.flatMap((yaml) => yaml.match(/\bparley_\w+/g) ?? []);
      expect(asked).toHaveLength(4);
      for (const metric of asked) expect(page).toMatch(new RegExp(`^${metric}\\{`, "m"));
    });

    test("tells the probe on SIGTERM that it stops, still answers, and ends within the grace period", async () => {
      const startedMs = performance.now();
      server.child.kill("SIGTERM");
      await expect.poll(ready).toBe(503);
      expect((await ask()).status).toBe(200);
      const result = await Promise.race([server.result(), wait(graceSeconds * 1000, undefined, { ref: false })]);
      expect(result).toMatchObject({ code: 0 });
      expect(performance.now() - startedMs).toBeGreaterThan(3000);
    });
  },
);

describe.skipIf(helm === undefined || postgresFolder === undefined)(
  "the chart's hook (it would run with helm and PostgreSQL)",
  () => {
    let postgres: TestPostgres;
    beforeAll(async () => {
      postgres = await TestPostgres.start();
    });
    afterAll(() => postgres[Symbol.asyncDispose]());

    /** Runs the command of the Job against an empty database. @returns that database */
    async function runHook(mode: string, dataDir: string): Promise<string> {
      const job = objectsOf(modes[mode] ?? {}).find(({ kind }) => kind === "Job");
      const [container] = job?.spec?.template?.spec.containers ?? [];
      const database = await postgres.createDatabase();
      const secrets = { "database/uri": postgres.urlOf(database), "valkey/PARLEY_VALKEY_URL": "valkey://127.0.0.1:1" };
      const env = Object.fromEntries(environmentOf(container?.env ?? [], secrets));
      const result = await parley(container?.args ?? [], { env: { ...env, PARLEY_DATA_DIR: dataDir } });
      expect(result).toMatchObject({ code: 0 });
      return database;
    }

    test("makes the tables in PostgreSQL", async () => {
      const database = await runHook("several servers", join(folder, "none"));
      expect(await postgres.query("SELECT count(*)::int AS keys FROM parley.keys", database)).toEqual([{ keys: 0 }]);
    });

    test("moves the keys of a volume to PostgreSQL with moveFrom", async () => {
      const dataDir = join(folder, "volume");
      const made = await parley(["keys", "create", "--name", "kept", "--data-dir", dataDir]);
      expect(made).toMatchObject({ code: 0 });
      const database = await runHook("several servers that take over a volume", dataDir);
      expect(await postgres.query("SELECT name FROM parley.keys", database)).toEqual([{ name: "kept" }]);
    });
  },
);
