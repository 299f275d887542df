/**
 * Characters that JSON may contain unescaped, but that some readers treat as a line end: `splitlines` of Python, `Scanner`
 * of Java, `lines` of Swift, `readline` of Node. `JSON.stringify` escapes all others of this kind.
 */
const lineEnds = /[\u0085\u2028\u2029]/g;

const escapes: Readonly<Record<string, string>> = {
  "\u0085": String.raw`\u0085`,
  "\u2028": String.raw`\u2028`,
  "\u2029": String.raw`\u2029`,
};

/**
 * Escapes these characters in JSON text or in events with JSON. ASCII text is returned without a search.
 * @param byteLength the length of the text in UTF-8 bytes, if it is known already
 */
export const escapeLineEnds = (json: string, byteLength = Buffer.byteLength(json)): string =>
  byteLength === json.length ? json : json.replace(lineEnds, (character) => escapes[character] ?? character);
