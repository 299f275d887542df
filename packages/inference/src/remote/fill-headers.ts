import type { RequestOrigin } from "../engine.ts";

/** The maximum length of a value, longer than any id. A longer header could make a server refuse the request. */
const maxCharacters = 256;

/**
 * Fills header templates with values of the caller: `{key}`, `{user}`, `{metadata.NAME}`. A header whose value is missing is
 * left out. Characters that a header must not contain become `?`, so that a caller cannot add headers.
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
