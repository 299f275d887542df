import { execFile, execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { engineVariables, serveArguments } from "@parley/inference/vllm";
import { freePort } from "@parley/server/testing";
import { pinOf } from "../ci/images.ts";

const run = promisify(execFile);
const file = join(import.meta.dirname, "compose.yaml");
const hasCompose =
  spawnSync("docker", ["compose", "version"]).status === 0 && spawnSync("docker", ["version"]).status === 0;

test("the bases of compose.yaml are the pins of the pipeline", () => {
  const text = readFileSync(file, "utf8");
  const bases = Array.from(text.matchAll(/\$\{PARLEY_IMAGE_([A-Z]+):-(\S+?)\}/g), ([, name, base]) => [name, base]);
  expect(bases.length).toBeGreaterThan(2);
  const pins = { NODE: pinOf("node"), PYTHON: pinOf("python") } as const;
  for (const [name = "", base] of bases) expect({ ...pins }[name]).toBe(process.env[`PARLEY_IMAGE_${name}`] ?? base);
});

test.each([
  ["vllm-cpu", true],
  ["vllm-gpu", false],
])("%s gets the flags and variables with which Parley starts vLLM itself", (name, isCpu) => {
  const { services } = parse(readFileSync(file, "utf8"), { merge: true }) as {
    readonly services: Readonly<
      Record<string, { readonly command: readonly string[]; readonly environment: Readonly<Record<string, string>> }>
    >;
  };
  const absent = {
    contextLength: undefined,
    kvMemoryMb: undefined,
    gpuMemoryShare: undefined,
    tensorParallel: undefined,
  };
  const listen = { port: 8000 } as const;
  const counts = { slots: 7, maxRequests: 32, shutdownSeconds: 30 };
  const options = { weights: "/models", servedName: "vendor/model-1", listen, dtype: "bfloat16", isCpu, extra: [] };
  const words = serveArguments({ ...options, ...absent, ...counts }, [0, 32]).slice(2);
  const wanted = words.flatMap((word, index) => {
    if (!word.startsWith("--")) return [];
    const value = words[index + 1];
    return value === undefined || value.startsWith("--") ? [word] : [`${word}=${value}`];
  });
  const { command = [], environment = {} } = services[name] ?? {};
  expect(command.toSorted()).toEqual(
    ["serve", "/models", ...wanted].map((word) => word.replace("127.0.0.1", "0.0.0.0")).toSorted(),
  );
  const plan = { isCpu, temporaryFolder: "", gpus: undefined, cores: "" };
  const { TMPDIR: _, PYTHONUNBUFFERED: __, VLLM_CPU_OMP_THREADS_BIND: ___, ...variables } = engineVariables(plan);
  expect(environment).toMatchObject(variables);
});

describe.skipIf(!hasCompose)("compose.yaml (it would run with a Docker engine and its plugin compose)", () => {
  const project = `parley-test-${randomBytes(4).toString("hex")}`;
  const third = 100 + ((randomBytes(1)[0] ?? 0) % 100);
  let port = 0;
  let tlsPort = 0;
  let prometheusPort = 0;
  const environment = (): NodeJS.ProcessEnv => ({
    ...process.env,
    PARLEY_PUBLISHED_PORT: String(port),
    PARLEY_PUBLISHED_TLS_PORT: String(tlsPort),
    PARLEY_PROMETHEUS_PORT: String(prometheusPort),
    PARLEY_SUBNET: `10.231.${third}.0/24`,
    PARLEY_PROXY_ADDRESS: `10.231.${third}.10`,
  });
  const compose = async (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> => {
    const profiles = ["--profile", "tls", "--profile", "metrics"];
    const all = ["compose", "--file", file, "--project-name", project, ...profiles, ...args];
    return (await run("docker", all, { env: { ...environment(), ...env }, maxBuffer: 2 ** 26 })).stdout;
  };
  const inServer = (...args: readonly string[]): Promise<string> => compose(["exec", "-T", "parley", ...args]);
  const up = (env: NodeJS.ProcessEnv = {}): Promise<string> => compose(["up", "--wait", "--wait-timeout", "120"], env);
  const firstKey = async (): Promise<string> => (await inServer("sh", "-c", "cat /data/key-*")).trim();
  const ask = async (key: string, fields: object = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "vendor/model-1",
        messages: [{ role: "user", content: "What is a rollup?" }],
        max_completion_tokens: 20,
        ...fields,
      }),
    });

  beforeAll(async () => {
    [port, tlsPort, prometheusPort] = await Promise.all([freePort(), freePort(), freePort()]);
    await compose(["build"]);
    await up();
  }, 600_000);
  afterAll(async () => void (await compose(["down", "--volumes", "--timeout", "5"])), 120_000);

  test("answers a chat and a stream with the first key, also through the proxy with TLS", async () => {
    const key = await firstKey();
    expect((await ask(key)).status).toBe(200);
    expect(await (await ask(key, { stream: true })).text()).toContain("[DONE]");
    const body = JSON.stringify({
      model: "vendor/model-1",
      messages: [{ role: "user", content: "hi" }],
      max_completion_tokens: 5,
    });
    const sent = [
      "--silent",
      "--insecure",
      `https://localhost:${tlsPort}/v1/chat/completions`,
      "--json",
      body,
      "--oauth2-bearer",
      key,
    ];
    expect(JSON.parse((await run("curl", sent)).stdout)).toMatchObject({ object: "chat.completion" });
  }, 60_000);

  test("Prometheus has loaded every alert rule, reads the server, and answers every query of the board", async () => {
    const ask = async (path: string): Promise<unknown> =>
      (await fetch(`http://127.0.0.1:${prometheusPort}/api/v1/${path}`)).json();
    const { groups } = parse(readFileSync(join(import.meta.dirname, "alerts.yaml"), "utf8")) as {
      readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules.map(({ alert }) => ({ name: alert, health: "ok" })));
    await expect
      .poll(() => ask("rules"), { timeout: 90_000, interval: 1000 })
      .toMatchObject({ data: { groups: [{ name: "parley", rules }] } });
    await expect
      .poll(() => ask("targets"), { timeout: 90_000, interval: 1000 })
      .toMatchObject({ data: { activeTargets: [{ labels: { job: "parley" }, health: "up", lastError: "" }] } });
    const board = readFileSync(join(import.meta.dirname, "grafana.json"), "utf8");
    const { panels } = JSON.parse(board) as {
      readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
    };
    for (const { expr } of panels.flatMap(({ targets = [] }) => targets)) {
      const query = expr.replaceAll("$__rate_interval", "1m").replaceAll(/\$(instance|model)/g, ".*");
      const answer = await ask(`query?query=${encodeURIComponent(query)}`);
      expect({ query, answer }).toMatchObject({ answer: { status: "success" } });
    }
    expect(await ask("query?query=parley_build_info")).toMatchObject({ data: { result: [expect.anything()] } });
  }, 240_000);

  test.each(["parley", "proxy"])(
    "%s is back after its process was killed",
    async (service) => {
      const id = (await compose(["ps", "--quiet", service])).trim();
      const started = (): string =>
        execFileSync("docker", ["inspect", "--format", "{{.State.StartedAt}}", id], { encoding: "utf8" }).trim();
      const before = started();
      process.kill(
        Number(execFileSync("docker", ["inspect", "--format", "{{.State.Pid}}", id], { encoding: "utf8" })),
        "SIGKILL",
      );
      await expect.poll(started, { timeout: 60_000, interval: 250 }).not.toBe(before);
      await up();
      expect((await ask(await firstKey())).status).toBe(200);
    },
    180_000,
  );

  test("keeps keys over a backup, a restore and new containers", async () => {
    const { id } =
      /^id {3}(?<id>\w+)/m.exec(await inServer("parley", "keys", "create", "--name", "kept"))?.groups ?? {};
    const key = (await inServer("cat", `/data/key-${id}`)).trim();
    expect(await inServer("parley", "backup", "/data/monday.db")).toContain("parley restore /data/monday.db");
    await inServer("parley", "keys", "disable", String(id));
    expect((await ask(key)).status).toBe(401);
    await compose(["stop", "parley"]);
    await compose(["run", "--rm", "-T", "parley", "restore", "/data/monday.db"]);
    await compose(["down"]);
    await up();
    expect((await ask(key)).status).toBe(200);
  }, 240_000);

  test("takes PARLEY_API_KEY, an empty one as none, and refuses a short one with its reason", async () => {
    const key = `compose-${randomBytes(12).toString("hex")}`;
    await up({ PARLEY_API_KEY: key });
    expect((await ask(key)).status).toBe(200);
    await up({ PARLEY_API_KEY: "" });
    expect((await ask(key)).status).toBe(401);
    const refused = await compose(["run", "--rm", "-T", "--env", "PARLEY_API_KEY=short", "parley", "start"]).catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("PARLEY_API_KEY") });
    await up();
  }, 240_000);

  test("names a port that is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    const takenPort = typeof address === "object" ? String(address?.port) : "";
    const failure = await up({ PARLEY_PUBLISHED_PORT: takenPort }).catch((error: { stderr: string }) => error.stderr);
    taken.close();
    expect(failure).toContain(takenPort);
    await up();
  }, 180_000);
});
