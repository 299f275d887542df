import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import type { KeyRole } from "../profile.ts";

/** A key that does not exist. Its four-letter fragments occur in no ordinary text. */
export const unknownKey = "pk-Zx9Qv7Kj2Wp4Yt6Hb8Rm3Xc5Ng1";

export function needsKey(
  { profile }: Context,
  role: KeyRole,
  fact?: "requestsPerMinute" | "tokensPerMinute" | "concurrency",
): number {
  const value = fact === undefined ? 0 : profile[fact];
  if (!profile.keyRoles.includes(role) || value === undefined)
    cannot(`name a key \`${role}\`${fact === undefined ? "" : ` and its \`${fact}\``} in the conformance profile`);
  return value;
}
