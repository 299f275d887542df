import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  chatInit,
  freePort,
  openPostgres,
  parley,
  play,
  startTestServer,
  startValkey,
  TestPostgres,
  until,
  withKey,
} from "@parley/server/testing";
import type { CliResult, TestServer } from "@parley/server/testing";
import { createKey, rotateKey } from "../../src/accounts/keys/issue-key.ts";
import type { KeyRules } from "../../src/accounts/keys/key-store.ts";
import { openState } from "../../src/state/open-state.ts";
import { canShare } from "../use-replicas.ts";

const body = { ...play("short"), max_completion_tokens: 8 };

async function ask(server: TestServer, token: string): Promise<number> {
  const response = await server.chat(body, withKey(token));
  await response.text();
  return response.status;
}

/** Sends requests until one is refused. @returns the number of answers */
async function spend(server: TestServer, token: string): Promise<number> {
  for (let answers = 0; ; answers += 1) {
    const status = await ask(server, token);
    if (status === 200) continue;
    expect(status).toBe(402);
    return answers;
  }
}

/** Sends requests one after the other. A client that cannot connect tries again. */
function sendAlways(port: number, token: string) {
  const stop = new AbortController();
  const statuses: number[] = [];
  const send = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const response = await fetch(
        `http://127.0.0.1:${port}/v1/chat/completions`,
        chatInit(body, withKey(token)),
      ).catch(() => undefined);
      await response?.text();
      if (response) statuses.push(response.status);
      else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const ended = send();
  return { statuses, stop: () => (stop.abort(), ended) };
}

type Key = Readonly<Record<"id" | "token", string>>;

/** A data folder, and the addresses of an empty PostgreSQL and of Valkey. */
class Places implements AsyncDisposable {
  readonly dataDir = mkdtempSync(join(tmpdir(), "parley-traffic-"));
  readonly port: number;
  readonly databaseUrl: string;
  readonly valkeyUrl: string;
  readonly #stores: AsyncDisposableStack;

  private constructor(port: number, databaseUrl: string, valkeyUrl: string, stores: AsyncDisposableStack) {
    this.port = port;
    this.databaseUrl = databaseUrl;
    this.valkeyUrl = valkeyUrl;
    this.#stores = stores;
  }

  static async open(): Promise<Places> {
    const stores = new AsyncDisposableStack();
    const postgres = stores.use(await TestPostgres.start());
    const valkey = stores.use(await startValkey());
    return new Places(await freePort(), postgres.urlOf(await postgres.createDatabase()), valkey.url, stores);
  }

  start(settings = {}): Promise<TestServer> {
    const { dataDir, port } = this;
    return startTestServer({
      scenarios: { short: [{ text: "word" }, { finish: "stop" }] },
      settings: { dataDir, port, ...settings },
    });
  }

  startOnPostgres(): Promise<TestServer> {
    const { databaseUrl, valkeyUrl } = this;
    return this.start({ databaseUrl, valkeyUrl });
  }

  async makeKey(rules: Partial<KeyRules> = {}): Promise<Key> {
    using state = openState(this.dataDir);
    return await createKey(state.keys, { name: "test", ...rules }, Date.now());
  }

  migrate(): Promise<CliResult> {
    const env = { PARLEY_DATABASE_URL: this.databaseUrl, PARLEY_VALKEY_URL: this.valkeyUrl };
    return parley(["migrate", "--data-dir", this.dataDir], { env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stores[Symbol.asyncDispose]();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

test.skipIf(!canShare)(
  "a server with traffic moves to PostgreSQL: its keys answer, and budgets go on exactly (this needs PostgreSQL and Valkey)",
  async () => {
    await using places = await Places.open();
    const alone = await places.makeKey({ budgetUsd: "0.00003" });
    const total = await places.makeKey({ budgetUsd: "0.00003" });
    const monthly = await places.makeKey({ monthlyBudgetUsd: "0.00003" });
    const [busy, disabled, rotated] = [await places.makeKey(), await places.makeKey(), await places.makeKey()];
    let secretBefore: Uint8Array;
    const traffic = sendAlways(places.port, busy.token);
    {
      await using server = await places.start();
      expect(await spend(server, alone.token)).toBeGreaterThan(4);
      for (const { token } of [total, total, total, monthly]) expect(await ask(server, token)).toBe(200);
      using state = openState(places.dataDir);
      await state.keys.disable(disabled.id, Date.now());
      await rotateKey(state.keys, rotated.id, Date.now() + 3_600_000);
      secretBefore = state.cacheSecret;
      const stderr: unknown = expect.stringMatching(/Another Parley server .*parley stop/);
      expect(await places.migrate()).toMatchObject({ code: 1, stderr });
      expect(await ask(server, busy.token)).toBe(200);
    }
    expect(await places.migrate()).toMatchObject({ code: 0 });

    await using server = await places.startOnPostgres();
    const answered = traffic.statuses.length;
    await until(() => traffic.statuses.length > answered + 5, Boolean);
    await traffic.stop();
    // A server that stops or starts answers 503. No valid key was refused for another reason.
    expect(traffic.statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await ask(server, disabled.token)).toBe(401);
    expect(await ask(server, rotated.token)).toBe(200);
    expect(await ask(server, alone.token)).toBe(402);
    await using state = await openPostgres(places.databaseUrl);
    const countOf = async ({ id }: Key): Promise<number> =>
      (await Array.fromAsync(state.ledger.entries({ keyId: id, outcome: "complete" }))).length;
    expect(await spend(server, total.token)).toBe((await countOf(alone)) - 3);
    expect(await spend(server, monthly.token)).toBe((await countOf(alone)) - 1);
    for (const key of [total, monthly])
      expect(await state.ledger.spentUsd(key.id)).toBe(await state.ledger.spentUsd(alone.id));
    expect(await countOf(busy)).toBe(traffic.statuses.filter((status) => status === 200).length + 1);
    expect(state.cacheSecret).toEqual(secretBefore);
  },
);
