import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CliProcess, chatInit, startTestServer, until, withKey } from "@parley/server/testing";
import type { GroupStore, TestServer } from "@parley/server/testing";
import { storesOf } from "../testing/shared-stores.ts";
import { verifierOf } from "../src/accounts/identity/verify-token.ts";
import { openStateOf } from "../src/state/open-state.ts";
import { useFolder } from "./use-folder.ts";
import {
  envOf,
  audience,
  issuer,
  keySet,
  lastIdOf,
  nowSeconds,
  refusalAfter,
  rsa,
  settings,
  sign,
  unsigned,
  writeKeySet,
} from "./use-tokens.ts";
import { send, startWorkers } from "./use-workers.ts";

const folder = useFolder();

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Opens an address with a key set, which can be replaced. `isUp` says whether it answers. */
async function openProvider() {
  const state = { isUp: true, asked: 0, keySet };
  const provider = createServer((_request, response) => {
    state.asked += 1;
    if (state.isUp) response.setHeader("content-type", "application/json").end(JSON.stringify(state.keySet));
    else response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  closing.push(() => provider.close());
  const { port } = provider.address() as AddressInfo; // an address, because it listens on a port
  return { state, url: `http://127.0.0.1:${port}/keys` };
}

describe("a token of an identity provider", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ settings: { ...settings, jwtKeys: writeKeySet(folder) } });
    closing.push(() => server[Symbol.asyncDispose]());
  });

  test("is accepted in place of a key, and its subject has one entry in the list of keys", async () => {
    const token = await sign();
    await Promise.all(Array.from({ length: 8 }, () => server.complete({}, withKey(token))));
    await server.complete(
      {},
      withKey(await sign({ claims: { aud: ["billing", audience] }, header: { typ: "at+jwt" } })),
    );
    const own = (await server.running.keys.list()).filter(({ name }) => name === "ada");
    expect(own).toHaveLength(1);
    expect((await server.ledger()).map(({ key_id }) => key_id)).toEqual(Array.from({ length: 9 }, () => own[0]?.id));
  });

  test("of RS256 is accepted, and 20 seconds after its end, because clocks differ", async () => {
    const byRsa = await sign({ key: rsa.privateKey, header: { alg: "RS256", kid: "two" } });
    const ended = await sign({ claims: { exp: Math.floor(Date.now() / 1000) - 1 } });
    for (const token of [byRsa, ended]) expect((await server.chat({}, withKey(token))).status).toBe(200);
  });

  test("has the limits of its entry, and is refused while that is disabled", async () => {
    const token = await sign({ claims: { sub: "grace" } });
    await server.complete({}, withKey(token));
    const grace = (await server.running.keys.list()).find(({ name }) => name === "grace");
    await server.running.keys.update(grace?.id ?? "", { budgetUsd: "0.000000001" });
    expect(await server.refuse({}, withKey(token))).toMatchObject({ status: 402 });
    await server.running.keys.update(grace?.id ?? "", { budgetUsd: undefined });
    await server.running.keys.disable(grace?.id ?? "", Date.now());
    const lastId = await lastIdOf(server);
    const { status, details } = await server.refuse({}, withKey(token));
    expect([status, details?.["token_fault"]]).toEqual([401, expect.stringContaining("its caller is disabled")]);
    const entry = await refusalAfter(server, lastId);
    expect(entry.actor).toEqual({ kind: "token", name: "grace", id: undefined });
    expect(entry.reason).toContain("its caller is disabled. Its claims are verified: iss ");
  });

  test("cannot use the entry of a key that has the same id", async () => {
    const token = await sign({ claims: { sub: "mallory" } });
    await server.complete({}, withKey(token));
    const mallory = (await server.running.keys.list()).find(({ name }) => name === "mallory");
    await server.running.keys.replaceHash(mallory?.id ?? "", "f".repeat(64));
    const { details } = await server.refuse({}, withKey(token));
    expect(details?.["token_fault"]).toContain("its caller has a key of its own");
  });
});

describe("the group of a token", () => {
  const claim = "https://login.example/teams";
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ settings: { ...settings, jwtKeys: writeKeySet(folder), jwtGroupClaim: claim } });
    closing.push(() => server[Symbol.asyncDispose]());
    await withGroups(async (groups) => {
      for (const [id, name] of Object.entries(ids)) await groups.insert({ id, name, createdMs: 0 });
    });
  });
  const ids = { grp_000000000001: "red", grp_000000000002: "blue" };
  async function withGroups(change: (groups: GroupStore) => Promise<unknown>): Promise<void> {
    const { dataDir } = server;
    await using state = await openStateOf({ dataDir, databaseUrl: storesOf(dataDir)?.databaseUrl });
    await change(state.groups);
  }
  const inGroups = (sub: string, teams: unknown): Promise<string> => sign({ claims: { sub, [claim]: teams } });
  const groupOf = async (sub: string): Promise<string | undefined> =>
    (await server.running.keys.list()).find(({ name }) => name === sub)?.groupId;

  test("is that of its claim, by name or id, and changes with it", async () => {
    await server.complete({}, withKey(await inGroups("ada", "red")));
    expect(await groupOf("ada")).toBe("grp_000000000001");
    await server.complete({}, withKey(await inGroups("ada", ["staff", "grp_000000000002"])));
    expect(await groupOf("ada")).toBe("grp_000000000002");
  });

  test.each([
    ["is missing", undefined, "its group claim is missing"],
    ["is a number", 7, "its group claim does not name groups"],
    ["is an empty list", [], "its group claim does not name groups"],
    ["has something else in its list", ["red", null], "its group claim does not name groups"],
    ["is an object", { red: true }, "its group claim does not name groups"],
    ["names no group", ["staff"], "its group claim names a group that does not exist"],
    ["names a member of every object", "constructor", "its group claim names a group that does not exist"],
    ["names two groups", ["red", "blue"], "its group claim names several groups"],
  ])("is refused if its claim %s", async (_title, teams, fault) => {
    const lastId = await lastIdOf(server);
    const { status, details } = await server.refuse({}, withKey(await inGroups("eve", teams)));
    expect([status, details?.["token_fault"]]).toEqual([401, `The token is refused: ${fault}.`]);
    expect((await refusalAfter(server, lastId)).reason).toContain(`The token is refused: ${fault}. `);
    expect(await groupOf("eve")).toBeUndefined();
  });

  test("that is disabled refuses its callers", async () => {
    const token = await inGroups("bob", "red");
    await server.complete({}, withKey(token));
    await withGroups((groups) => groups.disable("grp_000000000001", 1));
    await until(
      () => server.chat({}, withKey(token)),
      ({ ok }) => !ok,
    );
    const { details } = await server.refuse({}, withKey(token));
    expect(details?.["token_fault"]).toContain("the group of its caller is disabled");
  });
});

describe("a key set at an address", () => {
  test("that cannot be fetched answers 503, because the token may be good; it is fetched once for many requests", async () => {
    const { state, url } = await openProvider();
    state.isUp = false;
    const server = await startTestServer({ settings: { ...settings, jwtKeys: url } });
    closing.push(() => server[Symbol.asyncDispose]());
    const token = await sign();
    expect(await server.refuse({}, withKey(token))).toMatchObject({ status: 503, code: "service_unavailable" });
    const { reason, actor } = await refusalAfter(server, 0);
    expect(reason).toMatch(/^The token cannot be checked at the moment.* Nobody has verified its claims: iss /);
    expect(actor).toMatchObject({ kind: "token", name: "ada" });
    expect(await server.running.keys.list()).toEqual([]);
    state.isUp = true;
    state.asked = 0;
    await Promise.all(Array.from({ length: 8 }, () => server.complete({}, withKey(token))));
    state.isUp = false;
    await server.complete({}, withKey(token));
    for (let tries = 0; tries < 3; tries += 1)
      await server.refuse({}, withKey(await sign({ header: { kid: `unknown-${tries}` } })));
    expect(state.asked).toBe(1);
  });

  test("stays in use while it cannot be fetched again, and is replaced as soon as it can", async () => {
    const { state, url } = await openProvider();
    let nowMs = Date.now();
    const verify = verifierOf({ keys: url, issuer, audience, groupClaim: undefined }, () => nowMs);
    const token = await sign({ claims: { exp: nowSeconds + 3600 } });
    await verify(token);
    state.isUp = false;
    nowMs += 700_000;
    for (let turn = 0; turn < 3; turn += 1) expect(await verify(token)).toMatchObject({ subject: "ada" });
    expect(state.asked).toBe(2);
    state.isUp = true;
    state.keySet = { keys: keySet.keys.slice(1) };
    nowMs += 31_000;
    await expect(verify(token)).rejects.toThrow("its issuer has no such key");
    expect(state.asked).toBe(3);
  });

  test("may have a key that is too short: its tokens are refused for good", async () => {
    const { state, url } = await openProvider();
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const weak = { ...publicKey.export({ format: "jwk" }), kid: "weak", alg: "RS256", use: "sig" };
    state.keySet = { keys: [weak, ...keySet.keys] };
    const verify = verifierOf({ keys: url, issuer, audience, groupClaim: undefined }, Date.now);
    const refusal = verify(unsigned({ alg: "RS256", kid: "weak" }, "AAAA"));
    await expect(refusal).rejects.toMatchObject({ message: /malformed or too short/, isFinal: true });
    expect(await verify(await sign())).toMatchObject({ subject: "ada" });
  });
});

test("workers store a new identity once", async () => {
  const workers = await startWorkers(folder, envOf(folder));
  closing.push(() => workers.server[Symbol.asyncDispose]());
  const token = await sign();
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(workers.url, chatInit({}, withKey(token)))));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
});

test("a file that is not a key set ends the start with a sentence", async () => {
  const path = join(folder.path(), "wrong.json");
  writeFileSync(path, "{}");
  const env = { ...envOf(folder), PARLEY_JWT_KEYS: path };
  await using process = new CliProcess(["start"], folder.quick(env));
  expect(await process.result()).toMatchObject({ code: 2 });
  expect(process.stderr).toContain(`PARLEY_JWT_KEYS names the file ${path}, which is not a JSON Web Key Set.`);
});
