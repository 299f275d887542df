// A number of JavaScript turns 9007199254740993 into …992. Here, an integer that it would change is a bigint. Fractions become
// the nearest number, as in every reader of JSON.

/** Strings, which come first so that nothing inside of them is taken for a number, and numbers. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** @throws {SyntaxError} when the text is not JSON */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!/\d{16}/.test(text)) return value;
  const mark = makeMark();
  const marked = text.replaceAll(tokens, (token) => (isChanged(token) ? `"${mark}${token}"` : token));
  return JSON.parse(marked, (_name, item: unknown) =>
    typeof item === "string" && item.startsWith(mark) ? BigInt(item.slice(mark.length)) : item,
  );
}

/** As `JSON.stringify`, with bigints as numbers. @throws {TypeError} for an object that contains itself */
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

/** Begins the strings that stand for bigints. Nobody can have written it before. */
const makeMark = (): string => `bigint:${crypto.getRandomValues(new Uint32Array(4)).join("-")}:`;

function isChanged(token: string): boolean {
  if (!/^-?\d{16,}$/.test(token)) return false;
  const value = Number(token);
  return !Number.isFinite(value) || BigInt(value) !== BigInt(token);
}
