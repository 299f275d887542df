import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { JWTPayload } from "jose";
import { until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import type { AuditEntry } from "../src/accounts/audit/audit-log.ts";
import type { TestFolder } from "./use-folder.ts";

/** Signed tokens of an identity provider, with real keys. */

export const issuer = "https://login.example";
export const audience = "parley";
export const nowSeconds = Math.floor(Date.now() / 1000);

export const good = await generateKeyPair("ES256", { extractable: true });
export const other = await generateKeyPair("ES256", { extractable: true });
export const rsa = await generateKeyPair("RS256", { extractable: true });
export const keySet = {
  keys: [
    { ...(await exportJWK(good.publicKey)), kid: "one", alg: "ES256", use: "sig" },
    { ...(await exportJWK(rsa.publicKey)), kid: "two", alg: "RS256", use: "sig" },
  ],
};
export const rightClaims = { iss: issuer, aud: audience, sub: "ada", iat: nowSeconds, exp: nowSeconds + 86_400 };

interface Signed {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, string>>;
  readonly key?: typeof good.privateKey;
}

/** Signs a token that is right, apart from what is given. Undefined claims are left out. */
export const sign = ({ claims, header, key = good.privateKey }: Signed = {}): Promise<string> =>
  new SignJWT(JSON.parse(JSON.stringify({ ...rightClaims, ...claims })) as JWTPayload)
    .setProtectedHeader({ alg: "ES256", kid: "one", ...header })
    .sign(key);

export const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
export const unsigned = (header: object, signature = ""): string => `${part(header)}.${part(rightClaims)}.${signature}`;
/** Writes the key set into a file. Returns its path. */
export function writeKeySet(folder: TestFolder): string {
  const path = join(folder.path(), "keys.json");
  writeFileSync(path, JSON.stringify(keySet));
  return path;
}

/** The settings of a server that accepts the tokens, without the place of the key set. */
export const settings = { jwtIssuer: issuer, jwtAudience: audience };

/** Returns the same for a server process, with the key set in a file. */
export const envOf = (folder: TestFolder): Readonly<Record<string, string>> => ({
  PARLEY_JWT_KEYS: writeKeySet(folder),
  PARLEY_JWT_ISSUER: issuer,
  PARLEY_JWT_AUDIENCE: audience,
});

/** Waits until the audit log has a new entry of a refused token, and returns it. */
export async function refusalAfter(server: TestServer, lastId: number): Promise<AuditEntry> {
  const { audit } = server.running.state;
  const [entry] = await until(
    () => audit.read({ action: "authenticateCaller" }, 1),
    ([newest]) => (newest?.id ?? 0) > lastId,
  );
  if (!entry) throw new Error("the audit log has no entry");
  return entry;
}

export const lastIdOf = async (server: TestServer): Promise<number> =>
  (await server.running.state.audit.read({}, 1))[0]?.id ?? 0;
