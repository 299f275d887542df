import type { Secrets } from "./http-request.ts";
import type { Received } from "./exchange.ts";

/** A shorter fragment of a key could occur by chance. */
const leastPieceLength = 8;

/**
 * Replaces every fragment of a credential by asterisks of the same length, so that times and lengths stay. A credential
 * may arrive in several chunks, so all of them are searched together. A fragment that the request itself contains
 * in clear text, or that could be a word or a number, is not masked; the whole key always is.
 */
export function maskSecrets(
  received: readonly Received[],
  secrets: Secrets,
  asked: string,
): { readonly received: readonly Received[]; readonly leaks: readonly string[] } {
  const whole = received.map(({ bytes }) => bytes).join("");
  const leaks: string[] = [];
  let masked = whole;
  for (const [name, secret] of secrets) {
    const cleaned = maskOne(masked, secret, asked);
    if (cleaned !== masked && secret.length >= leastPieceLength) leaks.push(name);
    masked = cleaned;
  }
  if (leaks.length === 0) return { received, leaks };
  let from = 0;
  const cut = received.map(({ atMs, bytes }) => {
    from += bytes.length;
    return { atMs, bytes: masked.slice(from - bytes.length, from) };
  });
  return { received: cut, leaks };
}

function maskOne(text: string, secret: string, asked: string): string {
  const size = Math.min(leastPieceLength, secret.length);
  if (size < 2) return text;
  const pieces = new Set<string>();
  for (let start = 0; start + size <= secret.length; start += 1) {
    const piece = secret.slice(start, start + size);
    const isOrdinary = asked.includes(piece) || !/[a-z]/i.test(piece) || !/[A-Z0-9].*[A-Z0-9]/.test(piece);
    if (size === secret.length || !isOrdinary) pieces.add(piece);
  }
  const found = placesOf(text, pieces, size);
  const masked = found.reduce((all, at) => all.slice(0, at) + "*".repeat(size) + all.slice(at + size), text);
  return masked.replaceAll(secret, "*".repeat(secret.length));
}

/** Finds the positions of a fragment. Answers can be megabytes long, so two letters are compared before all eight. */
function placesOf(text: string, pieces: ReadonlySet<string>, size: number): number[] {
  const beginnings = new Uint8Array(65_536);
  const pairAt = (one: string, index: number): number =>
    ((one.charCodeAt(index) & 255) << 8) | (one.charCodeAt(index + 1) & 255);
  for (const piece of pieces) beginnings[pairAt(piece, 0)] = 1;
  const found: number[] = [];
  for (let at = 0; at + size <= text.length; at += 1)
    if (beginnings[pairAt(text, at)] === 1 && pieces.has(text.slice(at, at + size))) found.push(at);
  return found;
}
