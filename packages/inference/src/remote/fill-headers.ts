import type { RequestOrigin } from "../engine.ts";

/** Longer than any id; a header without bound could be refused, and the request with it. */
const maxCharacters = 256;

/**
 * Header templates with the caller's own values: `{key}`, `{user}`, `{metadata.NAME}`. A header that would need a value which
 * is not there is left out. What no header may hold is written as `?`: a caller must not add headers of their own.
 */
export function fillHeaders(
  templates: Readonly<Record<string, string>>,
  origin: RequestOrigin | undefined,
): Readonly<Record<string, string>> {
  const filled = Object.entries(templates).flatMap(([name, template]) => {
    let isComplete = true;
    const text = template.replaceAll(/\{(key|user|metadata\.([\w.-]+))\}/g, (_all, word: string, member?: string) => {
      const value = valueOf(origin, word, member);
      isComplete &&= value !== undefined;
      return (value ?? "").replaceAll(/[^\x21-\x7e]/g, "?").slice(0, maxCharacters);
    });
    return isComplete ? [[name, text] as const] : [];
  });
  return Object.fromEntries(filled);
}

function valueOf(origin: RequestOrigin | undefined, word: string, member: string | undefined): string | undefined {
  if (word === "key") return origin?.key;
  if (word === "user") return origin?.user;
  const { metadata = {} } = origin ?? {};
  return member !== undefined && Object.hasOwn(metadata, member) ? (metadata[member] ?? undefined) : undefined;
}
