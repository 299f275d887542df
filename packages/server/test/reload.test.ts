import { describe, expect, test } from "vitest";
import { miniId, modelId, play, until, withKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { ConfigError } from "../src/config/config-error.ts";
import type { Config } from "../src/config/read-config.ts";
import type { ModelConfig } from "../src/config/read-models.ts";
import { priceOf } from "../src/accounts/money/price.ts";
import { useServer } from "./use-server.ts";

/** Reloads of a server in this process. `reload-signal.test.ts` has those of real files and signals. */

const scenarios = {
  endless: [{ repeat: 100_000, steps: [{ text: "a" }, { wait_ms: 20 }] }],
  stall: [{ role: true, tokens: 0 }, { stall: true }],
} as const;
const actor = { kind: "user", name: "alice", from: { address: "host", agent: "SIGHUP" } } as const;
const newPrice = { prompt: "0.00007", completion: "0.0005", image: "0", request: "0.01" } as const;

const reload = ({ running }: TestServer, changes: Partial<Config>): Promise<void> =>
  running.reload(() => ({ ...running.settings(), ...changes }), actor);

/** Returns the models of a server, the first one with these changes. */
const changed = ({ running }: TestServer, changes: Partial<ModelConfig>): readonly ModelConfig[] =>
  running.settings().models.map((model) => (model.id === modelId ? { ...model, ...changes } : model));

const newest = async ({ running }: TestServer) => (await running.state.audit.read({ action: "reloadSettings" }, 1))[0];

const receiptOf = async (server: TestServer, id: string | null, init = {}) => {
  const read = async () => (await server.fetch(`/usage/${id}`, init)).json() as Promise<Receipt>;
  return until(read, ({ outcome }) => outcome !== "open");
};

/** The members of a receipt that these tests read. */
interface Receipt {
  readonly outcome?: string;
  readonly pricing: ModelConfig["pricing"];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens: number };
  };
  readonly cost_usd: string;
}

/** Returns the price of the tokens of a receipt. */
const priced = ({ usage }: Receipt, pricing: ModelConfig["pricing"]): string =>
  priceOf(
    {
      promptTokens: usage.prompt_tokens,
      cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
      completionTokens: usage.completion_tokens,
    },
    pricing,
  );

describe("a reload of prices", () => {
  const server = useServer({ scenarios });

  test("leaves admitted requests the price that they were admitted with, to the digit", async () => {
    const oldPrice = server().running.settings().models[0]?.pricing;
    if (!oldPrice) throw new Error("there is a model");
    const key = withKey(await server().makeKey({ budgetUsd: "1000" }));
    const streamed = await server().chat({ ...play("endless"), stream: true }, key);
    const reader = streamed.body?.getReader();
    await reader?.read();
    const stalls = await Promise.all(
      Array.from({ length: 7 }, () => server().chat({ ...play("stall"), n: 8, stream: true }, key)),
    );
    // It needs more slots than the 7 that are free.
    const queued = server().complete({ n: 8 }, key);
    await until(
      () => server().gauge(`parley_queue_waiting{model="${modelId}"}`),
      (count) => count === 1,
    );

    await reload(server(), { models: changed(server(), { pricing: newPrice }) });
    const listed = (await (await server().fetch("/models")).json()) as { data: { id: string; pricing: object }[] };
    expect(listed.data.map(({ id, pricing }) => [id, pricing])).toEqual([
      [modelId, newPrice],
      [miniId, server().running.settings().models[1]?.pricing],
    ]);

    await Promise.all(stalls.map(async (response) => response.body?.cancel()));
    await reader?.cancel();
    const left = await receiptOf(server(), streamed.headers.get("x-request-id"), key);
    expect(left.usage.completion_tokens).toBeGreaterThan(0);
    expect(left).toMatchObject({ pricing: oldPrice, cost_usd: priced(left, oldPrice) });
    const { usage } = await queued;
    expect(usage.cost_usd).toBe(priced({ usage, pricing: oldPrice, cost_usd: "" }, oldPrice));

    const next = await server().chat({}, key);
    const answer = (await next.json()) as Receipt;
    const receipt = await receiptOf(server(), next.headers.get("x-request-id"), key);
    expect(answer.usage).toMatchObject({ cost_usd: priced(receipt, newPrice) });
    expect(receipt).toMatchObject({ pricing: newPrice, cost_usd: priced(receipt, newPrice) });
  });
});

describe("a reload", () => {
  const server = useServer();

  test("applies limits, bounds and the level of the log", async () => {
    await reload(server(), { requestsPerMinute: 7, totalTokensPerMinute: 900, answerBytes: 20_000, logLevel: "warn" });
    const { headers } = await server().chat({ max_completion_tokens: 1 });
    expect(headers.get("x-ratelimit-limit-requests")).toBe("7");
    expect(headers.get("x-ratelimit-limit-tokens")).toBe("900");
    expect(server().logLines.filter((line) => line.includes('"msg":"request"'))).toEqual([]);
    await reload(server(), { requestsPerMinute: 10_000, totalTokensPerMinute: 100_000_000, logLevel: "info" });
    expect((await server().chat()).headers.get("x-ratelimit-limit-tokens")).toBe("10000000");
    expect(server().logLines.some((line) => line.includes('"msg":"request"'))).toBe(true);
  });

  test("records who changed which values", async () => {
    const { queueLength, queueWaitMs, models } = server().running.settings();
    await reload(server(), { queueLength: 3, queueWaitMs: 1500, models: changed(server(), { aliases: ["gpt"] }) });
    expect(await newest(server())).toMatchObject({
      actor: { kind: "user", name: "alice" },
      from: actor.from,
      target: { name: expect.stringContaining(`(process ${process.pid})`) as string },
      outcome: "done",
      before: { queue_length: 64, queue_wait_seconds: 30, "models.model-1.aliases": [] },
      after: { queue_length: 3, queue_wait_seconds: 1.5, "models.model-1.aliases": ["gpt"], needs_restart: [] },
    });
    expect((await server().complete({ model: "gpt" })).model).toBe("gpt");
    await reload(server(), { queueLength, queueWaitMs, models });
    expect((await server().refuse({ model: "gpt" })).status).toBe(404);
  });

  test("leaves a setting that needs a restart as it is, and names it", async () => {
    const [first, ...others] = server().running.settings().models;
    const models = [{ ...(first as ModelConfig), contextLength: 4096, pricing: newPrice }]; // it has models
    await reload(server(), { port: 1, apiKey: "another-key-0123456789", models, requestsPerMinute: 8 });
    const restart = ["port", "PARLEY_API_KEY", "models.model-1.context_length", "models.model-1.pricing"];
    const removed = others.map(({ name }) => `models.${name}`);
    const entry = await newest(server());
    expect(entry?.after).toEqual({ requests_per_minute: 8, needs_restart: [...restart, ...removed] });
    expect(await server().gauge("parley_config_restart_needed")).toBe(5);
    expect(server().running.settings().models).toEqual([first, ...others]);
    expect((await server().chat()).headers.get("x-ratelimit-limit-requests")).toBe("8");
    expect(server().logLines.at(-1)).not.toContain("another-key");
    await reload(server(), { models: server().running.settings().models.toReversed() });
    expect(await newest(server())).toMatchObject({ after: { needs_restart: ["the order of models"] } });
    await reload(server(), { requestsPerMinute: 10_000 });
    expect(await server().gauge("parley_config_restart_needed")).toBe(0);
  });

  test("with a fault changes nothing, and says so", async () => {
    const before = server().running.settings();
    const read = (): never => {
      throw new ConfigError(["parley.yaml: port must be a number", "another fault"]);
    };
    await server().running.reload(read, actor);
    const reason = "parley.yaml: port must be a number; another fault";
    expect(await newest(server())).toMatchObject({ outcome: "refused", reason, before: undefined });
    expect(server().running.settings()).toBe(before);
    const said = server().logLines.filter((line) => line.includes(reason));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('"level":50');
    expect(await server().gauge('parley_config_reloads_total{result="refused"}')).toBe(1);
    expect(await server().gauge("parley_config_last_reload_successful")).toBe(0);
    await reload(server(), {});
    expect(await server().gauge("parley_config_last_reload_successful")).toBe(1);
  });

  test("that would give two models one name is refused, also where the file itself has no such fault", async () => {
    // The second model has another id in the file, but keeps its own until a restart.
    const [first, second] = server().running.settings().models as [ModelConfig, ModelConfig];
    await reload(server(), {
      models: [
        { ...first, aliases: [miniId] },
        { ...second, id: "vendor/new" },
      ],
    });
    expect(await newest(server())).toMatchObject({
      outcome: "refused",
      reason: `models.model-1-mini and models.model-1 are both asked for as ${miniId}`,
    });
  });

  test("waits for the one before it, so the last reading counts", async () => {
    const before = (await server().running.state.audit.read({ action: "reloadSettings" }, 1000)).length;
    const limits = Array.from({ length: 20 }, (_, index) => 100 + index);
    await Promise.all(limits.map((requestsPerMinute) => reload(server(), { requestsPerMinute })));
    expect((await server().chat()).headers.get("x-ratelimit-limit-requests")).toBe("119");
    const entries = await server().running.state.audit.read({ action: "reloadSettings" }, 1000);
    expect(entries).toHaveLength(before + limits.length);
    expect(entries[0]).toMatchObject({ before: { requests_per_minute: 118 }, after: { requests_per_minute: 119 } });
  });
});
