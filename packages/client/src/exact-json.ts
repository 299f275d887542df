// JSON.parse turns 9007199254740993 into …992. These functions read and write an integer as a bigint if JavaScript would write
// it otherwise. Fractions become the nearest number, as in JSON.parse.

/** Matches strings and numbers. Strings come first, so that digits inside of them are not matched. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Parses JSON. Integers that JavaScript would write otherwise become bigints. @throws {SyntaxError} when the text is not JSON */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!/\d{16}/.test(text)) return value;
  const mark = makeMark();
  const marked = text.replaceAll(tokens, (token) => (isChanged(token) ? `"${mark}${token}"` : token));
  return JSON.parse(marked, (_name, item: unknown) =>
    typeof item === "string" && item.startsWith(mark) ? BigInt(item.slice(mark.length)) : item,
  );
}

/** Works like `JSON.stringify`, and writes bigints as numbers. @throws {TypeError} for an object that contains itself */
export function writeExact(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  const mark = makeMark();
  const text = JSON.stringify(value, (_name, item: unknown) => (typeof item === "bigint" ? `${mark}${item}` : item));
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

/** Makes a random prefix for the strings that stand for bigints, so that no string of the caller can have it. */
const makeMark = (): string => `${crypto.getRandomValues(new Uint32Array(4)).join()}:`;

/** True if JavaScript would write the integer with other digits: 18446744073709551616 as …552000, and 10^21 as 1e+21. */
const isChanged = (token: string): boolean => /^-?\d{16,}$/.test(token) && String(Number(token)) !== token;
