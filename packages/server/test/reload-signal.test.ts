import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatInit, CliProcess, freePort, modelId, parley, play, until } from "@parley/server/testing";
import type { CliResult } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "./use-folder.ts";
import { key, own, send, workersOf } from "./use-workers.ts";

/** Reloads of real servers: files, signals and workers. */

const folder = useFolder();

interface Started {
  readonly server: CliProcess;
  readonly baseUrl: string;
  readonly dataDir: string;
  /** Writes the settings file. */
  readonly write: (text: string) => void;
  readonly remove: () => void;
  /** Runs `parley reload`. */
  readonly reload: () => Promise<CliResult>;
  readonly metricsUrl: string;
}

const priceFile = (completion: string, more = ""): string =>
  `models:\n  model-1:\n    pricing: { prompt: "0", completion: "${completion}" }\n${more}`;

async function start(name: string, args: readonly string[] = []): Promise<Started> {
  const file = join(folder.path(), `${name}.yaml`);
  const script = join(folder.path(), `${name}.json`);
  const endless = [{ repeat: 100_000, steps: [{ text: "a" }, { wait_ms: 20 }] }];
  writeFileSync(script, JSON.stringify({ scenarios: { endless, stall: [{ text: "a" }, { stall: true }] } }));
  const write = (now: string): void => writeFileSync(file, now);
  write(priceFile("1"));
  const { cwd, env } = folder.quick({
    PARLEY_API_KEY: key,
    PARLEY_SCRIPT: script,
    PARLEY_TOKENS_PER_MINUTE: "5000",
    PARLEY_DRAIN_SECONDS: "1",
  });
  const server = new CliProcess(["start", "--config", file, ...args], { cwd, env });
  const baseUrl = await baseUrlOf(server);
  const [, metricsUrl = ""] = await server.says(/Metrics\s+(\S+)/);
  const dataDir = env.PARLEY_DATA_DIR;
  const reload = (): Promise<CliResult> => parley(["reload"], { cwd, env: { PARLEY_DATA_DIR: dataDir } });
  return { server, baseUrl, dataDir, write, remove: () => rmSync(file), reload, metricsUrl };
}

const priceIn = async ({ baseUrl }: Started): Promise<string> => {
  const response = await send(`${baseUrl}/models/${modelId}`, { headers: own });
  return ((await response.json()) as { pricing: { completion: string } }).pricing.completion;
};

describe("a settings file", () => {
  let started: Started;
  beforeAll(async () => {
    started = await start("file");
  });
  afterAll(() => started.server[Symbol.asyncDispose]());

  test("is read again by the command, which says what has changed", async () => {
    started.write(priceFile("2", "queue_wait_seconds: 12.5\nport: 4711\ntokens_per_minute: 9\n"));
    expect(await started.reload()).toMatchObject({
      code: 0,
      stdout: "",
      stderr: [
        "queue_wait_seconds: 30 is now 12.5",
        `models.model-1.pricing: {"prompt":"0","completion":"1","image":"0","request":"0"} is now {"prompt":"0","completion":"2","image":"0","request":"0"}`,
        "",
      ].join("\n"),
    });
    expect(await priceIn(started)).toBe("2");
    // The variables PORT and PARLEY_TOKENS_PER_MINUTE win over the file, as at the start.
    const answer = await send(`${started.baseUrl}/chat/completions`);
    expect(answer.headers.get("x-ratelimit-limit-tokens")).toBe("5000");
    expect(await answer.json()).toMatchObject({ usage: { cost_usd: expect.stringMatching(/^\d*[02468]$/) as string } });
  });

  test("with faults changes nothing, and the command fails with each fault", async () => {
    started.write(priceFile("3", "queue_length: many\nporty: 1\n"));
    const { code, stderr } = await started.reload();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'parley: The settings have faults, so nothing was changed: parley.yaml: queue_length must be a whole number from 0 to 100000, not "many"; parley.yaml: porty is not a setting: did you mean port?\n',
    });
    expect(await priceIn(started)).toBe("2");
    const text = await (await fetch(started.metricsUrl)).text();
    expect(text).toContain('parley_config_reloads_total{result="applied"} 1');
    expect(text).toContain('parley_config_reloads_total{result="refused"} 1');
    expect(text).toContain("parley_config_last_reload_successful 0");
    expect(started.server.stdout.match(/have faults/g)).toHaveLength(1);
  });

  test("that is gone changes nothing", async () => {
    started.remove();
    const { code, stderr } = await started.reload();
    expect(code).toBe(1);
    expect(stderr).toMatch(/nothing was changed: .*file\.yaml cannot be read: ENOENT/);
    expect(await priceIn(started)).toBe("2");
    started.write(priceFile("4"));
    expect((await started.reload()).code).toBe(0);
    expect(await priceIn(started)).toBe("4");
  });

  test("that changes while signals arrive is in force as it was at the last one", async () => {
    for (let price = 10; price < 30; price += 1) {
      started.write(priceFile(String(price)));
      started.server.child.kill("SIGHUP");
    }
    await until(
      () => priceIn(started),
      (price) => price === "29",
    );
  });

  test("is not read while the server stops", async () => {
    const headers = { authorization: `Bearer ${key}` };
    const body = { ...play("stall"), stream: true };
    const stream = await send(`${started.baseUrl}/chat/completions`, chatInit(body, { headers }));
    started.server.child.kill("SIGTERM");
    await started.server.says(/Stopping/);
    started.write(priceFile("5"));
    started.server.child.kill("SIGHUP");
    await started.server.says(/The server is stopping, so its settings are not read again/);
    expect(await stream.text()).toContain("service_unavailable");
    expect((await started.server.result()).code).toBe(0);
    expect((await started.reload()).stderr).toContain("No server uses the data folder");
  });
});

test("a `parley.yaml` that was there at the start must stay, because the defaults would follow", async () => {
  const cwd = folder.fresh();
  mkdirSync(cwd);
  const file = join(cwd, "parley.yaml");
  const { env } = folder.quick();
  await using server = new CliProcess(["start"], { cwd, env });
  await baseUrlOf(server);
  const reload = (): Promise<CliResult> => parley(["reload"], { cwd, env: { PARLEY_DATA_DIR: env.PARLEY_DATA_DIR } });
  expect((await reload()).stderr).toBe("No setting that a reload applies has changed.\n");
  writeFileSync(file, "queue_length: 7\nworkers: 2\n");
  expect((await reload()).stderr).toBe("queue_length: 64 is now 7\nworkers has changed and needs a restart.\n");
  rmSync(file);
  expect(await reload()).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be read") as string });
});

test("all workers have a new price at once, also a worker that is started later, and streams keep theirs", async () => {
  // With port 0, new workers would have another port once both have ended.
  const started = await start("workers", ["--workers", "2", "--port", String(await freePort())]);
  await using _server = started.server;
  const url = `${started.baseUrl}/chat/completions`;
  const workers = { ...started, url };
  const streams = await Promise.all(
    Array.from({ length: 4 }, () => send(url, chatInit({ ...play("endless"), stream: true }, { headers: own }))),
  );
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  started.write(priceFile("1000"));
  expect((await started.reload()).code).toBe(0);
  const prices = await Promise.all(Array.from({ length: 20 }, () => priceIn(started)));
  expect(new Set(prices)).toEqual(new Set(["1000"]));

  const ids = streams.map(({ headers }) => headers.get("x-request-id"));
  await Promise.all(streams.map(async ({ body }) => body?.cancel()));
  for (const id of ids) {
    const receipt = await until(
      async () => (await (await send(`${started.baseUrl}/usage/${id}`, { headers: own })).json()) as Receipt,
      ({ outcome }) => outcome !== "open",
    );
    expect(receipt).toMatchObject({ outcome: "cancelled" });
    expect(receipt.pricing.completion).toBe("1");
    expect(receipt.cost_usd).toBe(String(receipt.usage.completion_tokens));
  }

  const old = workersOf(workers);
  for (const pid of old) process.kill(pid, "SIGKILL");
  await until(
    () => workersOf(workers).filter((pid) => !old.includes(pid)).length,
    (count) => count === 2,
    45_000,
  );
  const away = "no worker answers";
  const later = await until(
    () => Promise.all(Array.from({ length: 20 }, () => priceIn(started).catch(() => away))),
    (seen) => !seen.includes(away),
    45_000,
  );
  expect(new Set(later)).toEqual(new Set(["1000"]));
});

interface Receipt {
  readonly outcome: string;
  readonly pricing: { readonly completion: string };
  readonly usage: { readonly completion_tokens: number };
  readonly cost_usd: string;
}
