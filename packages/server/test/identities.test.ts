import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import type { JWTPayload } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CliProcess, chatInit, startTestServer, until, withKey } from "@parley/server/testing";
import type { GroupStore, TestServer } from "@parley/server/testing";
import { storesOf } from "../testing/shared-stores.ts";
import { openStateOf } from "../src/state/open-state.ts";
import { useFolder } from "./use-folder.ts";
import { send, startWorkers } from "./use-workers.ts";

/** Signed tokens of an identity provider, with real keys. */

const issuer = "https://login.example";
const audience = "parley";
const folder = useFolder();
const nowSeconds = Math.floor(Date.now() / 1000);

const good = await generateKeyPair("ES256", { extractable: true });
const other = await generateKeyPair("ES256", { extractable: true });
const rsa = await generateKeyPair("RS256", { extractable: true });
const keySet = {
  keys: [
    { ...(await exportJWK(good.publicKey)), kid: "one", alg: "ES256", use: "sig" },
    { ...(await exportJWK(rsa.publicKey)), kid: "two", alg: "RS256", use: "sig" },
  ],
};
const rsaPem = await exportSPKI(rsa.publicKey);

const rightClaims = { iss: issuer, aud: audience, sub: "ada", iat: nowSeconds, exp: nowSeconds + 600 };

interface Signed {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, string>>;
  readonly key?: typeof good.privateKey;
}

/** Signs a token that is right, apart from what is given. Undefined claims are left out. */
const sign = ({ claims, header, key = good.privateKey }: Signed = {}): Promise<string> =>
  new SignJWT(JSON.parse(JSON.stringify({ ...rightClaims, ...claims })) as JWTPayload)
    .setProtectedHeader({ alg: "ES256", kid: "one", ...header })
    .sign(key);

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const unsigned = (header: object, signature = ""): string => `${part(header)}.${part(rightClaims)}.${signature}`;
const hmac = (header: object, secret: string): string => {
  const head = `${part(header)}.${part(rightClaims)}`;
  return `${head}.${createHmac("sha256", secret).update(head).digest("base64url")}`;
};
const changed = async (): Promise<string> => {
  const [head, , signature] = (await sign()).split(".");
  return `${head}.${part({ ...rightClaims, sub: "eve" })}.${signature}`;
};
const ownKey = await exportJWK(other.publicKey);

const [malformed, algorithm] = ["it is malformed", "its algorithm is not accepted"];
const [signature, noKey] = ["its signature is wrong", "its issuer has no such key"];

/** Forged and stale tokens, each with its fault. */
const refused: readonly (readonly [title: string, token: string | Promise<string>, fault: string | RegExp])[] = [
  ["alg none", unsigned({ alg: "none" }), algorithm],
  ["alg None", unsigned({ alg: "None" }), algorithm],
  ["an empty alg", unsigned({ alg: "" }, "AAAA"), malformed],
  ["without an alg", unsigned({ kid: "one" }, "AAAA"), malformed],
  ["an alg that is a number", unsigned({ alg: 7 }, "AAAA"), malformed],
  ["HS256 with the public key as its secret", hmac({ alg: "HS256", kid: "two" }, rsaPem), algorithm],
  ["HS256 with the key set as its secret", hmac({ alg: "HS256" }, JSON.stringify(keySet)), algorithm],
  ["HS256 with an empty secret", hmac({ alg: "HS256" }, ""), algorithm],
  ["an unknown alg", unsigned({ alg: "XX256", kid: "one" }, "AAAA"), algorithm],
  ["the alg of another key", unsigned({ alg: "RS256", kid: "one" }, "AAAA"), noKey],
  ["a cut signature", sign().then((token) => token.slice(0, -10)), signature],
  ["no signature", sign().then((token) => token.slice(0, token.lastIndexOf(".") + 1)), signature],
  ["a signature of another key", sign({ key: other.privateKey }), signature],
  ["other claims under a signature", changed(), signature],
  ["an unknown kid", sign({ header: { kid: "three" } }), noKey],
  ["a kid that is a path", sign({ header: { kid: "../../dev/null" } }), noKey],
  ["its own key in the head", unsigned({ alg: "ES256", jwk: ownKey }, "AAAA"), signature],
  [
    "the address of a key in the head",
    unsigned({ alg: "ES256", kid: "x", jku: "https://evil.example/keys" }, "AAAA"),
    noKey,
  ],
  [
    "an extension that it calls critical",
    unsigned({ alg: "ES256", kid: "one", crit: ["x"], x: 1 }, "AAAA"),
    /extension|malformed/,
  ],
  ["a head that is not JSON", `bm90IGpzb24.${part(rightClaims)}.AAAA`, malformed],
  ["a head that is a list", `${part([])}.${part(rightClaims)}.AAAA`, malformed],
  ["an expired time", sign({ claims: { exp: nowSeconds - 60 } }), "it has expired"],
  ["no end", sign({ claims: { exp: undefined } }), "its claim exp is missing"],
  ["an end that is a text", sign({ claims: { exp: "never" } }), "its claim exp is invalid"],
  ["a beginning in the future", sign({ claims: { nbf: nowSeconds + 300 } }), "its time begins in the future"],
  ["an issue in the future", sign({ claims: { iat: nowSeconds + 300 } }), "its time begins in the future"],
  ["another issuer", sign({ claims: { iss: "https://evil.example" } }), "it is from another issuer"],
  ["an issuer with a slash more", sign({ claims: { iss: `${issuer}/` } }), "it is from another issuer"],
  ["no issuer", sign({ claims: { iss: undefined } }), "its claim iss is missing"],
  ["another audience", sign({ claims: { aud: "billing" } }), "it is for another audience"],
  ["no audience", sign({ claims: { aud: undefined } }), "its claim aud is missing"],
  ["no subject", sign({ claims: { sub: undefined } }), "its claim sub is missing"],
  ["an empty subject", sign({ claims: { sub: "" } }), "its claim sub is not the id of a caller"],
  ["a subject with a line break", sign({ claims: { sub: "a\nb" } }), "its claim sub is not the id of a caller"],
  [
    "a subject of 257 characters",
    sign({ claims: { sub: "a".repeat(257) } }),
    "its claim sub is not the id of a caller",
  ],
  ["a subject that is a list", sign({ claims: { sub: ["ada"] } }), /claim sub|malformed/],
];

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const settings = { jwtIssuer: issuer, jwtAudience: audience };

function writeKeySet(): string {
  const path = join(folder.path(), "keys.json");
  writeFileSync(path, JSON.stringify(keySet));
  return path;
}

/** Opens an address with a key set. `isUp` says whether it answers. */
async function openProvider() {
  const state = { isUp: true, asked: 0 };
  const provider = createServer((_request, response) => {
    state.asked += 1;
    if (state.isUp) response.setHeader("content-type", "application/json").end(JSON.stringify(keySet));
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
    server = await startTestServer({ settings: { ...settings, jwtKeys: writeKeySet() } });
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
    const ended = await sign({ claims: { exp: nowSeconds - 1 } });
    for (const token of [byRsa, ended]) expect((await server.chat({}, withKey(token))).status).toBe(200);
  });

  test.each(refused)("is refused with %s", async (_title, made, fault) => {
    const token = await made;
    const before = await server.running.keys.list();
    const refusal = await server.refuse({}, withKey(token));
    expect(refusal).toMatchObject({ status: 401, code: "invalid_api_key" });
    const said = String(refusal.details?.["token_fault"]).replace(/^The token is refused: (.*)\.$/, "$1");
    if (typeof fault === "string") expect(said).toBe(fault);
    else expect(said).toMatch(fault);
    expect(await server.running.keys.list()).toEqual(before);
    expect(server.logLines.some((line) => line.includes(`"token_fault":"The token is refused: ${said}."`))).toBe(true);
    expect(server.logLines.join()).not.toContain(token.split(".")[1]);
  });

  test("and a key that is wrong get the same message", async () => {
    const [wrong, forged] = ["parley_0123456789ab.wrong", unsigned({ alg: "none" })].map((token) => withKey(token));
    expect((await server.refuse({}, forged)).message).toBe((await server.refuse({}, wrong)).message);
  });

  test("has the limits of its entry, and is refused while that is disabled", async () => {
    const token = await sign({ claims: { sub: "grace" } });
    await server.complete({}, withKey(token));
    const grace = (await server.running.keys.list()).find(({ name }) => name === "grace");
    await server.running.keys.update(grace?.id ?? "", { budgetUsd: "0.000000001" });
    expect(await server.refuse({}, withKey(token))).toMatchObject({ status: 402 });
    await server.running.keys.update(grace?.id ?? "", { budgetUsd: undefined });
    await server.running.keys.disable(grace?.id ?? "", Date.now());
    const { status, details } = await server.refuse({}, withKey(token));
    expect([status, details?.["token_fault"]]).toEqual([401, expect.stringContaining("its caller is disabled")]);
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
    server = await startTestServer({ settings: { ...settings, jwtKeys: writeKeySet(), jwtGroupClaim: claim } });
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
    const { status, details } = await server.refuse({}, withKey(await inGroups("eve", teams)));
    expect([status, details?.["token_fault"]]).toEqual([401, `The token is refused: ${fault}.`]);
    expect(await groupOf("eve")).toBeUndefined();
  });

  test("that is disabled refuses its callers", async () => {
    const token = await inGroups("bob", "red");
    await server.complete({}, withKey(token));
    await withGroups((groups) => groups.disable("grp_000000000001", 1));
    await until(
      () => server.refuse({}, withKey(token)),
      ({ details }) => String(details?.["token_fault"]).includes("the group of its caller is disabled"),
    );
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
});

test("workers store a new identity once", async () => {
  const env = { PARLEY_JWT_KEYS: writeKeySet(), PARLEY_JWT_ISSUER: issuer, PARLEY_JWT_AUDIENCE: audience };
  const workers = await startWorkers(folder, env);
  closing.push(() => workers.server[Symbol.asyncDispose]());
  const token = await sign();
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(workers.url, chatInit({}, withKey(token)))));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
});

test("a file that is not a key set ends the start with a sentence", async () => {
  const path = join(folder.path(), "wrong.json");
  writeFileSync(path, "{}");
  const env = { PARLEY_JWT_KEYS: path, PARLEY_JWT_ISSUER: issuer, PARLEY_JWT_AUDIENCE: audience };
  await using process = new CliProcess(["start"], folder.quick(env));
  expect(await process.result()).toMatchObject({ code: 2 });
  expect(process.stderr).toContain(`PARLEY_JWT_KEYS names the file ${path}, which is not a JSON Web Key Set.`);
});
