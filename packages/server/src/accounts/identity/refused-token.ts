import { ApiError } from "../../errors/api-error.ts";
import { cleanText } from "../audit/audit-log.ts";
import type { AuditRecord } from "../audit/audit-log.ts";

/**
 * Records a refused token without delaying its answer.
 * @param fault tokens with the same fault are counted together. There are about 25 faults
 */
export type NoteRefusedToken = (record: AuditRecord, fault: string) => void;

interface Refusal {
  readonly token: string;
  /** False if anyone could have written the claims of the token. */
  readonly isVerified: boolean;
  readonly from: AuditRecord["from"];
  readonly atMs: number;
}

/** Maximum length of a claim in the audit log, in characters. */
const maxClaimLength = 100;

/** Records the refusal of a token, but not the failure of a store. */
export function noteRefusal(error: unknown, { token, isVerified, from, atMs }: Refusal, note: NoteRefusedToken): void {
  if (!(error instanceof ApiError)) return;
  // Where the key set could not be read, the token is unverified, and the error has a message but no details.
  const fault = error.details?.token_fault ?? (isVerified ? undefined : error.message);
  if (fault === undefined) return;
  const claims = claimsOf(token);
  const shown = claims.map(([name, value]) => `${name} ${cleanText(JSON.stringify(value), maxClaimLength)}`);
  const heading = isVerified ? "Its claims are verified" : "Nobody has verified its claims";
  const subject = claims.find(([name]) => name === "sub")?.[1];
  const record: AuditRecord = {
    atMs,
    actor: { kind: "token", name: typeof subject === "string" ? cleanText(subject, maxClaimLength) : "" },
    from,
    action: "authenticateCaller",
    target: {},
    outcome: "refused",
    reason: shown.length > 0 ? `${fault} ${heading}: ${shown.join(", ")}.` : fault,
    attempts: 1,
  };
  note(record, fault);
}

/** Returns issuer, subject and audience as far as a token that may be malformed has them. */
function claimsOf(token: string): (readonly [name: string, value: unknown])[] {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    if (typeof claims !== "object" || claims === null) return [];
    return Object.entries(claims).filter(([name]) => ["iss", "sub", "aud"].includes(name));
  } catch {
    return [];
  }
}
