import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatInit, makeKeyIn, modelId, parley, play, readLedger, until, withKey } from "@parley/server/testing";
import { useFolder } from "./use-folder.ts";
import { childrenOf, key, own, send, startWorkers, workersOf } from "./use-workers.ts";
import type { Workers } from "./use-workers.ts";

const folder = useFolder();

const statuses = async (url: string, count: number, token: string): Promise<number[]> => {
  const answers = await Promise.all(Array.from({ length: count }, () => send(url, chatInit({}, withKey(token)))));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  return answers.map(({ status }) => status);
};

const count = (all: readonly number[], wanted: number): number => all.filter((one) => one === wanted).length;

describe("a server with two workers", () => {
  let workers: Workers;
  beforeAll(async () => {
    workers = await startWorkers(folder);
  });
  afterAll(() => workers.server[Symbol.asyncDispose]());

  const gauge = async (name: string): Promise<number> => {
    const text = await (await fetch(workers.metricsUrl)).text();
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length) ?? Number.NaN);
  };

  test("has two processes, and both answer", async () => {
    expect(workersOf(workers)).toHaveLength(2);
    expect(await statuses(workers.url, 8, key)).toEqual(Array.from({ length: 8 }, () => 200));
    // A worker that has no processor takes no connection.
    await until(
      async () => {
        await statuses(workers.url, 4, key);
        return new Set(Array.from(workers.server.stdout.matchAll(/"worker":(\d).*"msg":"request"/g), ([, one]) => one));
      },
      (seen) => seen.size === 2,
    );
  });

  test("grants a limit of requests once, however many connections race", async () => {
    const { token } = await makeKeyIn(workers.dataDir, { requestsPerMinute: 10 });
    const seen = await statuses(workers.url, 40, token);
    expect([count(seen, 200), count(seen, 429)]).toEqual([10, 30]);
  });

  test("grants as many requests at the same time as the key may have", async () => {
    const { token } = await makeKeyIn(workers.dataDir, { concurrency: 3 });
    const body = { ...play("slow"), stream: true };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => send(workers.url, chatInit(body, withKey(token)))),
    );
    expect(
      count(
        answers.map(({ status }) => status),
        200,
      ),
    ).toBe(3);
    await Promise.all(answers.map((answer) => answer.text()));
    expect(await statuses(workers.url, 1, token)).toEqual([200]);
  });

  test("spends a budget once", async () => {
    const fields = { max_completion_tokens: 1 };
    const answer = await send(workers.url, chatInit(fields, { headers: own }));
    const { usage } = (await answer.json()) as { readonly usage: { readonly cost_usd: string } };
    const budgetUsd = (Number(usage.cost_usd) * 5.5).toFixed(12);
    const { token, id } = await makeKeyIn(workers.dataDir, { budgetUsd });
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => send(workers.url, chatInit(fields, withKey(token)))),
    );
    const seen = answers.map(({ status }) => status);
    await Promise.all(answers.map((one) => one.arrayBuffer()));
    expect([count(seen, 200), count(seen, 402)]).toEqual([5, 25]);
    const rows = (await readLedger(workers.dataDir)).filter((row) => row.key_id === id);
    expect(rows.map(({ cost_usd }) => cost_usd)).toEqual(Array.from({ length: 5 }, () => usage.cost_usd));
  });

  test("refuses a disabled key everywhere, and ends its stream", async () => {
    const { token, id } = await makeKeyIn(workers.dataDir);
    const body = { ...play("endless"), stream: true };
    const streams = await Promise.all(
      Array.from({ length: 4 }, () => send(workers.url, chatInit(body, withKey(token)))),
    );
    expect((await parley(["keys", "disable", id, "--data-dir", workers.dataDir])).code).toBe(0);
    for (const stream of streams) expect(await stream.text()).toContain("invalid_api_key");
    expect(await statuses(workers.url, 8, token)).toEqual(Array.from({ length: 8 }, () => 401));
  });

  test("spends the budget of a group once, and refuses all its keys everywhere when it is disabled", async () => {
    const group = (...args: readonly string[]) => parley(["groups", ...args, "--data-dir", workers.dataDir]);
    const fields = { max_completion_tokens: 1 };
    const answer = await send(workers.url, chatInit(fields, { headers: own }));
    const { usage } = (await answer.json()) as { readonly usage: { readonly cost_usd: string } };
    const budgetUsd = (Number(usage.cost_usd) * 5.5).toFixed(12);
    const rules = ["--budget-usd", budgetUsd, "--period", "week", "--time-zone", "Asia/Tokyo"];
    const { id: groupId } = JSON.parse((await group("create", "--name", "team", ...rules, "--json")).stdout) as {
      id: string;
    };
    const keys = await Promise.all([1, 2, 3].map(() => makeKeyIn(workers.dataDir, { groupId })));
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_none, turn) =>
        send(workers.url, chatInit(fields, withKey(keys[turn % 3]?.token ?? ""))),
      ),
    );
    const seen = answers.map(({ status }) => status);
    expect([count(seen, 200), count(seen, 402)]).toEqual([5, 25]);
    const refused = answers.find(({ status }) => status === 402);
    expect(await refused?.text()).toContain("of the group team for each week");
    await group("update", "team", "--budget-usd", "none");
    const [{ token } = { token: "" }] = keys;
    const stream = await send(workers.url, chatInit({ ...play("endless"), stream: true }, withKey(token)));
    expect((await group("disable", "team")).code).toBe(0);
    expect(await stream.text()).toContain("invalid_api_key");
    expect(await statuses(workers.url, 4, token)).toEqual([401, 401, 401, 401]);
  });

  test("counts every request of both workers in one place", async () => {
    const name = `parley_requests_total{operation="createChatCompletion",model="${modelId}",status="200",code="",outcome="complete"}`;
    const before = await gauge(name);
    expect(count(await statuses(workers.url, 20, key), 200)).toBe(20);
    await until(
      () => gauge(name),
      (now) => now === before + 20,
    );
    const text = await (await fetch(workers.metricsUrl)).text();
    expect(text).toMatch(/^process_cpu_seconds_total\{worker="1"\} /m);
    expect(text).toMatch(/^process_cpu_seconds_total\{worker="2"\} /m);
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    expect(text.match(/^# TYPE process_cpu_seconds_total /gm)).toHaveLength(1);
    expect(new Set(text.match(/^# TYPE (\S+)/gm)).size).toBe(text.match(/^# TYPE (\S+)/gm)?.length);
  });

  test("shows the docs, which the parent builds", async () => {
    expect((await fetch(new URL("/docs", workers.url))).status).toBe(200);
  });

  test("a worker that is killed loses its own streams, gives back what they held, and is replaced", async () => {
    const { token, id } = await makeKeyIn(workers.dataDir, { concurrency: 8, budgetUsd: "1" });
    const body = { ...play("endless"), stream: true };
    const streams = await Promise.all(
      Array.from({ length: 8 }, () => send(workers.url, chatInit(body, withKey(token)))),
    );
    const rowsOf = async () => (await readLedger(workers.dataDir)).filter((row) => row.key_id === id);
    await until(rowsOf, (rows) => rows.length === 8 && rows.every((row) => row.completion_tokens > 0));
    expect(await gauge(`parley_slots_in_use{model="${modelId}"}`)).toBe(8);
    const [victim = 0] = workersOf(workers);
    const ends = streams.map((stream) =>
      stream.text().then(
        () => "ended",
        () => "cut",
      ),
    );
    process.kill(victim, "SIGKILL");
    // Its streams are those that one worker had: about half of them.
    const left = await until(rowsOf, (rows) => rows.some(({ outcome }) => outcome !== "open"));
    const abandoned = left.filter(({ outcome }) => outcome === "abandoned");
    const others = 8 - abandoned.length;
    expect(others).toBeGreaterThan(0);
    for (const row of abandoned) expect(row).toMatchObject({ cost_usd: "0" });
    expect(left.filter(({ outcome }) => outcome === "open")).toHaveLength(others);
    expect(await gauge(`parley_slots_in_use{model="${modelId}"}`)).toBe(others);
    expect(count(await statuses(workers.url, abandoned.length, token), 200)).toBe(abandoned.length);
    await until(
      () => workersOf(workers),
      (pids) => pids.length === 2 && !pids.includes(victim),
    );
    expect((await parley(["keys", "disable", id, "--data-dir", workers.dataDir])).code).toBe(0);
    const ended = await Promise.all(ends);
    expect(ended.filter((end) => end === "cut")).toHaveLength(abandoned.length);
    expect(workers.server.stdout).toContain("requests of a worker that has ended were closed");
    await until(
      () => gauge("parley_requests_running"),
      (running) => running === 0,
    );
  });

  test("an engine that dies is ready again for all workers", async () => {
    const engines = childrenOf(workers).filter(({ command }) => command.includes("scripted"));
    expect(engines).toHaveLength(2);
    for (const { pid } of engines) process.kill(pid, "SIGKILL");
    await until(
      () => gauge(`parley_engine_restarts_total{model="${modelId}"}`),
      (restarts) => restarts === 1,
    );
    await until(
      () => statuses(workers.url, 8, key),
      (seen) => count(seen, 200) === 8,
    );
  });

  test("a worker that ends again and again ends the server, with a sentence", async () => {
    const [, kept] = workersOf(workers);
    await until(
      () => {
        for (const pid of workersOf(workers)) if (pid !== kept) process.kill(pid, "SIGKILL");
        return workers.server.isOver;
      },
      (isOver) => isOver,
      15_000,
    );
    expect((await workers.server.result()).code).toBe(1);
    expect(workers.server.stderr).toContain("parley: A worker process ends again and again, so the server ends (");
  });
});
