import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { ApiError, storeAway } from "../../errors/api-error.ts";
import { refusedToken } from "../keys/authenticate.ts";
import type { GroupStore } from "../groups/group-store.ts";
import { isDisabled, toCaller } from "../keys/find-caller.ts";
import type { FindCaller } from "../keys/find-caller.ts";
import { hashSecret, isSameHash } from "../keys/hash-key.ts";
import type { FoundKey, KeyStore, StoredKey } from "../keys/key-store.ts";
import { noteRefusal } from "./refused-token.ts";
import type { NoteRefusedToken } from "./refused-token.ts";

/** The claims of a token of an identity provider that was accepted. */
export interface Identity {
  /** The issuer's permanent id of the caller, 1 to 256 characters. */
  readonly subject: string;
  /** The names in the group claim; none if callers need no group. */
  readonly groups: readonly string[];
  /** The end of the token's time, in milliseconds since 1970. */
  readonly expiresMs: number;
}

/** @throws {TokenError} if the token is refused, or the keys of its issuer cannot be read */
export type VerifyToken = (token: string) => Promise<Identity>;

/** A token that cannot be accepted. The message completes the sentence "The token is refused: …", and quotes nothing of it. */
export class TokenError extends Error {
  override readonly name = "TokenError";
  /** False if the token may be good, but cannot be checked at the moment. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    { cause, isFinal = true }: { readonly cause?: unknown; readonly isFinal?: boolean } = {},
  ) {
    super(message, { cause });
    this.isFinal = isFinal;
  }
}

export interface IdentityDeps {
  readonly verify: VerifyToken;
  readonly issuer: string;
  /** True if the tokens name the group of their caller. */
  readonly needsGroup: boolean;
  readonly groups: Pick<GroupStore, "findNamed">;
  readonly keys: Pick<KeyStore, "find" | "insert" | "update">;
  readonly noteRefused: NoteRefusedToken;
  readonly nowMs: () => number;
}

/** Milliseconds for which an accepted token is not checked again. Then its issuer may have withdrawn the key that signed it. */
const maxKeptMs = 60_000;
const maxKept = 10_000;

/** The caller that an accepted token names. */
interface Placed {
  readonly identity: Identity;
  /** The id of its group. */
  readonly groupId: string | undefined;
}

/**
 * Admits the tokens of an identity provider besides keys. When an identity comes for the first time, it is stored as a key
 * without a secret, with the subject as its name. So it has usage, limits, budgets and a group like a key, and can be
 * disabled like one.
 */
export function withIdentities(deps: IdentityDeps, findOther: FindCaller): FindCaller {
  const { nowMs } = deps;
  const accepted = new LRUCache<string, Placed>({ max: maxKept, ttl: maxKeptMs });
  return async (token, from) => {
    if (!isJwt(token)) return findOther(token, from);
    const digest = hash("sha256", token, "base64");
    const kept = accepted.get(digest);
    const known = kept && kept.identity.expiresMs > nowMs() ? kept : undefined;
    const note = (error: unknown, isVerified: boolean): never => {
      noteRefusal(error, { token, isVerified, from: from(), atMs: nowMs() }, deps.noteRefused);
      throw error;
    };
    const identity = known?.identity ?? (await check(token, deps).catch((error: unknown) => note(error, false)));
    const isKnown = (error: unknown): never => note(error, true);
    const placed = known ?? (await place(identity, deps).catch(isKnown));
    const key = await keyOf(placed, deps).catch(isKnown);
    if (!known) accepted.set(digest, placed);
    return toCaller(key.id, key, key.groups, nowMs());
  };
}

/** Recognizes a signed token in its compact form. An unsigned one has nothing after its second dot. */
const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

/** Checks a token. @throws {ApiError} 401 `invalid_api_key`, 503 `service_unavailable` */
async function check(token: string, { verify }: IdentityDeps): Promise<Identity> {
  try {
    return await verify(token);
  } catch (error) {
    if (error instanceof TokenError && error.isFinal) throw refusedToken(error.message);
    const message =
      "The token cannot be checked at the moment, because the keys of its issuer cannot be read. Try again later.";
    throw new ApiError("service_unavailable", message, { retryAfterMs: 2000, cause: error });
  }
}

/** Finds the group of a caller. @throws {ApiError} 401 `invalid_api_key`, 503 `service_unavailable` */
async function place(identity: Identity, { needsGroup, groups }: IdentityDeps): Promise<Placed> {
  if (!needsGroup) return { identity, groupId: undefined };
  const named = await groups.findNamed(identity.groups).catch(storeAway);
  if (named.length > 1) throw refusedToken("its group claim names several groups");
  if (!named[0]) throw refusedToken("its group claim names a group that does not exist");
  return { identity, groupId: named[0].id };
}

/** Finds the stored key of an identity, or stores one. Its hash is that of the identity, so it has no secret. */
async function keyOf({ identity: { subject }, groupId }: Placed, deps: IdentityDeps): Promise<FoundKey> {
  const { issuer, needsGroup, keys, nowMs } = deps;
  const digest = hashSecret(JSON.stringify([issuer, subject]));
  const id = digest.slice(0, 12);
  const found = await keys.find(id).catch(storeAway);
  const key = found ?? (await insert({ id, hash: digest, name: subject, groupId, createdMs: nowMs() }, keys));
  // An id is short, so another key could have it. A key that was rotated has a secret now.
  if (!isSameHash(key.hash, digest)) throw refusedToken("its caller has a key of its own");
  if (key.disabledMs !== undefined) throw refusedToken("its caller is disabled");
  if (key.expiresMs !== undefined && key.expiresMs <= nowMs()) throw refusedToken("the time of its caller is over");
  const moved = needsGroup && key.groupId !== groupId ? await move(key, groupId, keys) : key;
  if (isDisabled(moved)) throw refusedToken("the group of its caller is disabled");
  return moved;
}

/** Stores a new key, unless another request of the same identity was faster. */
async function insert(key: StoredKey, keys: IdentityDeps["keys"]): Promise<FoundKey> {
  const failure = await keys.insert(key).catch((error: unknown) => ({ error }));
  return (await keys.find(key.id).catch(storeAway)) ?? storeAway(failure?.error);
}

async function move(key: FoundKey, groupId: string | undefined, keys: IdentityDeps["keys"]): Promise<FoundKey> {
  await keys.update(key.id, { groupId }).catch(storeAway);
  return (await keys.find(key.id).catch(storeAway)) ?? key;
}
