import { readFileSync } from "node:fs";
import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from "jose";
import { TokenError } from "./identity.ts";
import type { VerifyToken } from "./identity.ts";

/** An identity provider whose tokens are accepted in place of keys. */
export interface Provider {
  /** The address of its key set (https, or http on this machine), or the path of a file with it. */
  readonly keys: string;
  /** The exact value of `iss`. */
  readonly issuer: string;
  /** A value that `aud` must be or contain. */
  readonly audience: string;
  /** The claim that names the groups of the caller; undefined: callers need none. */
  readonly groupClaim: string | undefined;
}

/** Algorithms with a public key. A shared secret would let this server make tokens. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Seconds by which the clocks of the issuer and this machine may differ. */
const leewaySeconds = 30;
const maxSubjectCharacters = 256;

/**
 * Returns the check of a provider's tokens, by RFC 7519 and RFC 8725. A key set at an address is fetched when it is needed,
 * again for a key that it lacks (at most every 30 seconds), and every ten minutes. A set that is known stays in use while it
 * cannot be fetched.
 * @throws {Error} for a file that is not a key set, with a message for the operator
 */
export function verifierOf({ keys, issuer, audience, groupClaim }: Provider, nowMs: () => number): VerifyToken {
  const keyOf = openKeySet(keys, nowMs);
  return async (token) => {
    const currentDate = new Date(nowMs());
    const options = { algorithms, issuer, audience, currentDate, clockTolerance: leewaySeconds };
    const required = ["exp", "sub"];
    const { payload } = await jwtVerify(token, keyOf, { ...options, requiredClaims: required }).catch(
      (error: unknown) => {
        throw explain(error, token);
      },
    );
    if ((payload.iat ?? 0) * 1000 > nowMs() + leewaySeconds * 1000)
      throw new TokenError("its time begins in the future");
    return { subject: subjectOf(payload), groups: groupsOf(payload, groupClaim), expiresMs: (payload.exp ?? 0) * 1000 };
  };
}

function openKeySet(keys: string, nowMs: () => number): JWTVerifyGetKey {
  if (/^https?:/.test(keys)) return openAddress(new URL(keys), nowMs);
  try {
    return createLocalJWKSet(JSON.parse(readFileSync(keys, "utf8")) as JSONWebKeySet); // the library checks it
  } catch (error) {
    throw new Error(`PARLEY_JWT_KEYS names the file ${keys}, which is not a JSON Web Key Set.`, { cause: error });
  }
}

/** A known key set is fetched again after this number of milliseconds, and for a key that it lacks. */
const maxAgeMs = 600_000;
/** Minimum milliseconds between two attempts to fetch a key set again. */
const minFetchMs = 30_000;

/** Opens a key set at an address. While it cannot be fetched, the last known one counts. */
function openAddress(url: URL, nowMs: () => number): JWTVerifyGetKey {
  // The library only fetches when it is told to.
  const keySet = createRemoteJWKSet(url, { cacheMaxAge: Infinity, cooldownDuration: Infinity });
  let [askedMs, fetchedMs] = [-Infinity, -Infinity];
  const fetchAgain = async (): Promise<void> => {
    askedMs = nowMs();
    try {
      await keySet.reload();
      fetchedMs = nowMs();
    } catch (cause) {
      if (!keySet.jwks()) throw new TokenError("the key set of its issuer cannot be read", { cause, isFinal: false });
    }
  };
  // A clock that is set back must not put off the next attempt.
  const isOver = (sinceMs: number, ms: number): boolean => Math.abs(nowMs() - sinceMs) >= ms;
  return async (header, token) => {
    if (!keySet.jwks() || (isOver(fetchedMs, maxAgeMs) && isOver(askedMs, minFetchMs))) await fetchAgain();
    try {
      return await keySet(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isOver(askedMs, minFetchMs)) throw error;
      await fetchAgain();
      return keySet(header, token);
    }
  };
}

function subjectOf({ sub }: JWTPayload): string {
  if (typeof sub === "string" && /^[^\p{Cc}]+$/u.test(sub) && sub.length <= maxSubjectCharacters) return sub;
  throw new TokenError("its claim sub is not the id of a caller");
}

function groupsOf(payload: JWTPayload, claim: string | undefined): readonly string[] {
  if (claim === undefined) return [];
  const value = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
  if (value === undefined) throw new TokenError("its group claim is missing");
  const names = Array.isArray(value) ? (value as unknown[]) : [value];
  if (names.length > 0 && names.every((name) => typeof name === "string")) return names;
  throw new TokenError("its group claim does not name groups");
}

function explain(error: unknown, token: string): TokenError {
  if (error instanceof TokenError) return error;
  if (error instanceof errors.JWTExpired) return new TokenError("it has expired");
  if (error instanceof errors.JWTClaimValidationFailed) return new TokenError(claimFault(error));
  if (error instanceof errors.JWSSignatureVerificationFailed) return new TokenError("its signature is wrong");
  if (error instanceof errors.JOSEAlgNotAllowed) return new TokenError("its algorithm is not accepted");
  if (error instanceof errors.JWKSNoMatchingKey) return new TokenError(keyFault(token));
  if (error instanceof errors.JWKSMultipleMatchingKeys) return new TokenError("it does not say which key signed it");
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid)
    return new TokenError("it is malformed");
  if (error instanceof errors.JOSENotSupported) return new TokenError("it has an extension that is not supported");
  // For instance an RSA key with fewer than 2048 bits.
  return new TokenError("the key of its issuer is malformed or too short", { cause: error });
}

function claimFault({ claim, reason }: errors.JWTClaimValidationFailed): string {
  if (reason === "missing") return `its claim ${claim} is missing`;
  if (claim === "iss") return "it is from another issuer";
  if (claim === "aud") return "it is for another audience";
  return claim === "nbf" && reason === "check_failed"
    ? "its time begins in the future"
    : `its claim ${claim} is invalid`;
}

/** An algorithm that no key of the set can have is told before a missing key. */
function keyFault(token: string): string {
  const { alg = "" } = decodeProtectedHeader(token);
  return algorithms.includes(alg) ? "its issuer has no such key" : "its algorithm is not accepted";
}
