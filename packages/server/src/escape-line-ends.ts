/**
 * Characters that JSON may hold as they are, and that some readers take for a line's end: `splitlines` of Python,
 * `Scanner` of Java, `lines` of Swift, `readline` of Node. `JSON.stringify` escapes all others of this kind.
 */
const lineEnds = /[\u0085\u2028\u2029]/g;

const escapes: Readonly<Record<string, string>> = {
  "\u0085": String.raw`\u0085`,
  "\u2028": String.raw`\u2028`,
  "\u2029": String.raw`\u2029`,
};

/**
 * Returns finished JSON, or events of it, with such characters escaped. Only text that is not all ASCII is searched.
 * @param byteLength the length of the text in UTF-8, where it is known already
 */
export const escapeLineEnds = (json: string, byteLength = Buffer.byteLength(json)): string =>
  byteLength === json.length ? json : json.replace(lineEnds, (character) => escapes[character] ?? character);
