import { createHmac } from "node:crypto";
import { exportJWK, exportSPKI } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatInit, parley, startTestServer, until, withKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { storesOf } from "../testing/shared-stores.ts";
import type { ManagedState } from "../src/accounts/manage/managed-state.ts";
import { maxPerMinute } from "../src/accounts/manage/refused-attempts.ts";
import { openStateOf } from "../src/state/open-state.ts";
import { useFolder } from "./use-folder.ts";
import {
  envOf,
  issuer,
  keySet,
  lastIdOf,
  nowSeconds,
  other,
  part,
  refusalAfter,
  rightClaims,
  rsa,
  settings,
  sign,
  unsigned,
  writeKeySet,
} from "./use-tokens.ts";
import { send, startWorkers } from "./use-workers.ts";

const folder = useFolder();

const rsaPem = await exportSPKI(rsa.publicKey);

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
  ["a beginning in the future", sign({ claims: { nbf: nowSeconds + 86_400 } }), "its time begins in the future"],
  ["an issue in the future", sign({ claims: { iat: nowSeconds + 86_400 } }), "its time begins in the future"],
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

/** The claims of a token as the audit log shows them, in the order of the token. */
function claimsOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
  const names = Object.keys(claims).filter((name) => ["iss", "sub", "aud"].includes(name));
  return names.map((name) => `${name} ${JSON.stringify(claims[name]).slice(0, 100)}`).join(", ");
}

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

describe("a token of an identity provider", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ settings: { ...settings, jwtKeys: writeKeySet(folder) } });
    closing.push(() => server[Symbol.asyncDispose]());
  });

  test.each(refused)("is refused with %s", async (_title, made, fault) => {
    const token = await made;
    const before = await server.running.keys.list();
    const lastId = await lastIdOf(server);
    const { headers } = withKey(token);
    const refusal = await server.refuse({}, { headers: { ...headers, "user-agent": "forger/1" } });
    expect(refusal).toMatchObject({ status: 401, code: "invalid_api_key" });
    const said = String(refusal.details?.["token_fault"]).replace(/^The token is refused: (.*)\.$/, "$1");
    if (typeof fault === "string") expect(said).toBe(fault);
    else expect(said).toMatch(fault);
    expect(await server.running.keys.list()).toEqual(before);
    const entry = await refusalAfter(server, lastId);
    await until(
      () => server.logLines,
      (lines) => lines.some((line) => line.includes(`"token_fault":"The token is refused: ${said}."`)),
    );
    expect(server.logLines.join()).not.toContain(token.split(".")[1]);
    expect(entry).toMatchObject({ outcome: "refused", attempts: 1, target: {}, from: { agent: "forger/1" } });
    expect(entry.from.address).toMatch(/127\.0\.0\.1$/);
    expect(entry.reason).toBe(`The token is refused: ${said}. Nobody has verified its claims: ${claimsOf(token)}.`);
    for (const secret of token.split(".").filter(Boolean)) expect(JSON.stringify(entry)).not.toContain(secret);
  });

  test.each([
    [
      "control characters",
      { iss: "a\0b", sub: "ada\u001b[31m\u202e\0", aud: [1] },
      'iss "a\\u0000b", sub "ada\\u001b[31m\uFFFD\\u0000", aud [1].',
    ],
    ["half of a character", { sub: `${"x".repeat(98)}\u{1f600}` }, `sub "${"x".repeat(98)}\uFFFD.`],
    [
      "a long list",
      { aud: Array.from({ length: 500 }, () => "parley") },
      `aud ${JSON.stringify(Array.from({ length: 12 }, () => "parley")).slice(0, 100)}.`,
    ],
    ["a subject that is an object", { sub: { toString: 1 } }, 'sub {"toString":1}.'],
  ])("that is forged with %s in its claims is recorded with a short and plain text", async (_title, claims, shown) => {
    const lastId = await lastIdOf(server);
    const token = `${part({ alg: "none" })}.${part(claims)}.`;
    await server.refuse({}, withKey(token));
    const entry = await refusalAfter(server, lastId);
    expect(entry.reason).toBe(`The token is refused: ${algorithm}. Nobody has verified its claims: ${shown}`);
    expect(entry.actor.name).toMatch(/^\P{C}{0,100}$/u);
  });

  test("and a key that is wrong get the same message", async () => {
    const [wrong, forged] = ["parley_0123456789ab.wrong", unsigned({ alg: "none" })].map((token) => withKey(token));
    expect((await server.refuse({}, forged)).message).toBe((await server.refuse({}, wrong)).message);
  });
});

test("a flood of forged tokens is counted by fault, and loses no attempt", async () => {
  const server = await startTestServer({ settings: { ...settings, jwtKeys: writeKeySet(folder) } });
  const { dataDir } = server;
  const floods = [unsigned({ alg: "none" }), await sign({ key: other.privateKey })];
  const each = 3 * maxPerMinute;
  for (let sent = 0; sent < each; sent += 10)
    await Promise.all(floods.flatMap((token) => Array.from({ length: 10 }, () => server.refuse({}, withKey(token)))));
  const refusals = (state: Pick<ManagedState, "audit">) => state.audit.read({ action: "authenticateCaller" }, 1000);
  // The run may have crossed the end of a minute.
  expect((await refusals(server.running.state)).length).toBeLessThanOrEqual(2 * (2 * maxPerMinute + 1));
  await server.running.close();
  await using state = await openStateOf({ dataDir, databaseUrl: storesOf(dataDir)?.databaseUrl });
  const entries = await refusals(state);
  const sums = [algorithm, signature].map((fault) =>
    entries.filter(({ reason }) => reason?.includes(fault)).reduce((sum, { attempts }) => sum + attempts, 0),
  );
  expect(sums).toEqual([each, each]);
  await server[Symbol.asyncDispose]();
});

test("workers record refused tokens in the audit log of their server", async () => {
  const workers = await startWorkers(folder, envOf(folder));
  closing.push(() => workers.server[Symbol.asyncDispose]());
  const forged = await sign({ key: other.privateKey });
  const answers = await Promise.all(Array.from({ length: 6 }, () => send(workers.url, chatInit({}, withKey(forged)))));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 401));
  const listed = await until(
    () => parley(["audit", "--action", "authenticateCaller"], folder.quick({ PARLEY_DATA_DIR: workers.dataDir })),
    ({ stdout }) => stdout.split("\n").length >= 8,
  );
  expect(listed.stdout.match(/\(token\) ada /g)).toHaveLength(6);
});
