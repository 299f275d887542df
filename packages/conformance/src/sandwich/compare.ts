/** The three things that can happen to a value between two sides of a gateway. */
export type Class = "lost" | "changed" | "invented";

/** A difference between two JSON values: `sent` is absent if the value was invented, `got` if it was lost. */
export interface Difference {
  readonly class: Class;
  /** JSON pointer. A number in it is the position in a list. */
  readonly at: string;
  readonly sent?: string;
  readonly got?: string;
}

/** A number as it was written: `9007199254740993` and `1.0` keep their digits. */
class Numeral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const mark = "\u0000number:";
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON and keeps the digits of its numbers. @returns undefined if the text is not JSON */
export function parseExact(text: string): unknown {
  const marked = text.replaceAll(tokens, (token) => (token.startsWith('"') ? token : JSON.stringify(mark + token)));
  try {
    JSON.parse(text);
    return JSON.parse(marked, (_key, value: unknown) =>
      typeof value === "string" && value.startsWith(mark) ? new Numeral(value.slice(mark.length)) : value,
    );
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Numeral);

/** Returns whether two spellings are one number: exactly for integers, as doubles otherwise. */
function isSameNumber(one: string, other: string): boolean {
  const isWhole = (text: string): boolean => /^-?\d+$/.test(text);
  if (isWhole(one) && isWhole(other)) return BigInt(one) === BigInt(other);
  return Number(one) === Number(other) && Number.isSafeInteger(Number(one)) === Number.isSafeInteger(Number(other));
}

/** Lists the differences of two values of `parseExact`. Two objects differ by order only where the order has a meaning: in a schema. */
export function compare(sent: unknown, got: unknown, at = ""): Difference[] {
  if (Array.isArray(sent) && Array.isArray(got)) return compareLists(sent, got, at);
  if (isObject(sent) && isObject(got)) return compareObjects(sent, got, at);
  const isSame =
    sent instanceof Numeral && got instanceof Numeral ? isSameNumber(sent.text, got.text) : Object.is(sent, got);
  return isSame ? [] : [{ class: "changed", at, sent: write(sent), got: write(got) }];
}

function compareLists(sent: readonly unknown[], got: readonly unknown[], at: string): Difference[] {
  const shared = sent.slice(0, got.length).flatMap((value, index) => compare(value, got[index], `${at}/${index}`));
  const lost = sent.slice(got.length).map((value, index) => lostAt(`${at}/${got.length + index}`, value));
  const invented = got.slice(sent.length).map((value, index) => inventedAt(`${at}/${sent.length + index}`, value));
  return [...shared, ...lost, ...invented];
}

function compareObjects(sent: Record<string, unknown>, got: Record<string, unknown>, at: string): Difference[] {
  const [before, after] = [Object.keys(sent), Object.keys(got)];
  const pointer = (name: string): string => `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const shared = before.filter((name) => Object.hasOwn(got, name));
  const isReordered =
    at.endsWith("/properties") && shared.join("\n") !== after.filter((name) => Object.hasOwn(sent, name)).join("\n");
  return [
    ...(isReordered
      ? [
          {
            class: "changed" as const,
            at,
            sent: `the order ${before.join(", ")}`,
            got: `the order ${after.join(", ")}`,
          },
        ]
      : []),
    ...shared.flatMap((name) => compare(sent[name], got[name], pointer(name))),
    ...before.filter((name) => !Object.hasOwn(got, name)).map((name) => lostAt(pointer(name), sent[name])),
    ...after.filter((name) => !Object.hasOwn(sent, name)).map((name) => inventedAt(pointer(name), got[name])),
  ];
}

const lostAt = (at: string, value: unknown): Difference => ({ class: "lost", at, sent: write(value) });
const inventedAt = (at: string, value: unknown): Difference => ({ class: "invented", at, got: write(value) });

/** A value of `parseExact` as JSON. */
export const write = (value: unknown): string => {
  if (value instanceof Numeral) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "nothing";
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`)
    .join(",")}}`;
};
