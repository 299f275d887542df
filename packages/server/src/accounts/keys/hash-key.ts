import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * A new key. Its token is `parley_<id>.<secret>`, with an id of 48 random bits and a secret of 256. Secret scanners can
 * recognize the prefix.
 */
export interface NewKey {
  readonly id: string;
  /** Shown once, and never stored. */
  readonly token: string;
  /** SHA-256 of the secret, in hex. A random secret of 256 bits needs no slow hash. */
  readonly hash: string;
}

export function makeKey(): NewKey {
  return withSecret(randomBytes(6).toString("hex"));
}

/** Returns a new secret for an existing key id. */
export function withSecret(id: string): NewKey {
  const secret = randomBytes(32).toString("base64url");
  return { id, token: `parley_${id}.${secret}`, hash: hashSecret(secret) };
}

export function splitToken(token: string): { readonly id: string; readonly secret: string } | undefined {
  const match = /^parley_([0-9a-f]{12})\.([A-Za-z0-9_-]{43})$/.exec(token);
  // Both groups take part in every match.
  return match ? { id: match[1] as string, secret: match[2] as string } : undefined;
}

/**
 * Returns true for the entry of a caller of an identity provider, which has no secret: its id is the beginning of its hash. The id
 * of a key is random.
 */
export const isOfIdentity = ({ id, hash: stored }: Pick<NewKey, "id" | "hash">): boolean => stored.startsWith(id);

export const hashSecret = (secret: string): string => hash("sha256", secret);

/** Compares two hashes in hex, in constant time. */
export const isSameHash = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(one), Buffer.from(other));
