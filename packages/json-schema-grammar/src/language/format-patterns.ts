/**
 * The formats of JSON Schema and of the OpenAPI format registry as patterns. Each allows only what its RFC allows and what both ajv-formats and Python's jsonschema
 * accept. So none of them has leap seconds, the year 0000 or hostnames that end with a dot.
 */

/** 0001 to 9999. */
const year = String.raw`(\d{3}[1-9]|\d{2}[1-9]\d|\d[1-9]\d{2}|[1-9]\d{3})`;
const leapYear = String.raw`(\d{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)`;
const date = [
  `${year}-(0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])`,
  `${year}-(0[469]|11)-(0[1-9]|[12]\\d|30)`,
  `${year}-02-(0[1-9]|1\\d|2[0-8])`,
  `${leapYear}-02-29`,
].join("|");
const hour = String.raw`([01]\d|2[0-3])`;
const minute = String.raw`[0-5]\d`;
const clockTime = String.raw`${hour}:${minute}:${minute}(\.\d+)?`;
const time = `${clockTime}([Zz]|[-+]${hour}:${minute})`;

/** Python's durations overflow with more digits. */
const count = String.raw`\d{1,9}`;
const clock = `T(${count}H(${count}M(${count}S)?)?|${count}M(${count}S)?|${count}S)`;
const days = `${count}D`;
const months = `${count}M(${days})?`;
const duration = `P((${count}Y(${months})?|${months}|${days})(${clock})?|${clock}|${count}W)`;

const byte = String.raw`(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const ipv4 = String.raw`${byte}(\.${byte}){3}`;
const group = "[0-9A-Fa-f]{1,4}";
/** Up to `max` groups; the last two may be written as an IPv4 address. */
const groups = (max: number): string => {
  const plain = max > 0 ? [`(${group}:){0,${max - 1}}${group}`] : [];
  return [...plain, ...(max > 1 ? [`(${group}:){0,${max - 2}}${ipv4}`] : [])].join("|");
};
const shortened = Array.from({ length: 8 }, (_, left) => {
  const before = left === 0 ? "" : `(${group}:){${left - 1}}${group}`;
  return `${before}::(${groups(7 - left)})?`;
}).map((pattern) => pattern.replace("()?", ""));
const ipv6 = [`(${group}:){6}(${group}:${group}|${ipv4})`, ...shortened].join("|");

const alphanumeric = "[A-Za-z0-9]";
/** A label of a hostname with at most `max` characters, which is at least 2. */
export const label = (max: number): string => `${alphanumeric}([-A-Za-z0-9]{0,${max - 2}}${alphanumeric})?`;
/**
 * A hostname has at most 253 characters, and 63 in a label. An automaton that counted both would have 16,000 states: so
 * either up to four labels have any length, or up to eight labels have at most 30 characters.
 */
const hostname = String.raw`(${label(63)}\.){0,3}${label(61)}|(${label(30)}\.){0,7}${label(30)}`;
/** Excludes labels such as `xn--…`: the valid ones are not a regular language. */
export const withoutPunycode = (hosts: string): string => `(?!(.*[.])?[^.]{2}--)(${hosts})`;
const plainHostname = withoutPunycode(hostname);

export const ucs = String.raw`\u{a0}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{ffef}\u{10000}-\u{1fffd}\u{20000}-\u{2fffd}\u{30000}-\u{3fffd}`;
export const localPart = (letters: string): string => {
  const atom = `[-A-Za-z0-9!#$%&'*+/=?^_\`{|}~${letters}]+`;
  return String.raw`${atom}(\.${atom})*`;
};
/** A look-ahead limits the part before the @ to 64 characters. It must be at the beginning of the pattern. */
const email = (letters: string): string =>
  String.raw`(?=[^@]{1,64}@)${localPart(letters)}@(${label(63)}\.)+${label(63)}`;

export const escapedByte = "%[0-9A-Fa-f]{2}";
export const unreserved = String.raw`A-Za-z0-9\-._~`;
export const delimiters = "!$&'()*+,;=";

/** The rules of RFC 3986, or of RFC 3987 with letters beyond ASCII. */
function uriPatterns(letters: string): { absolute: string; reference: string } {
  const oneOf = (more: string): string => `([${unreserved}${delimiters}${letters}${more}]|${escapedByte})`;
  const character = oneOf(":@");
  const authority = String.raw`(${oneOf(":")}*@)?(\[(${ipv6})\]|${oneOf("")}*)(:\d*)?`;
  const path = `(/${character}*)*`;
  const rooted = `/(${character}+${path})?`;
  const tail = String.raw`(\?${oneOf(":@/?")}*)?(#${oneOf(":@/?")}*)?`;
  const hierarchy = `(//${authority}${path}|${rooted}|${character}+${path})`;
  const relative = `(//${authority}${path}|${rooted}|${oneOf("@")}+${path})?`;
  const absolute = String.raw`[A-Za-z][A-Za-z0-9+\-.]*:${hierarchy}${tail}`;
  return { absolute, reference: `(${absolute}|${relative}${tail})` };
}
const uri = uriPatterns("");
const iri = uriPatterns(ucs);

const variable = "[A-Za-z0-9_]+(:[1-9][0-9]{0,2}|[*])?";
const uriTemplate = String.raw`([${unreserved}!#$&()*+,/:;=?@[\]${ucs}]|${escapedByte}|\{[+#./;?&]?${variable}(,${variable})*\})*`;

const pointer = "(/([^~/]|~[01])*)*";
/** Python refuses a digit after a 0. */
const relativePointer = `(0|[1-9]+0?)(#|${pointer})`;

/** A part of the regular expressions: groups are nested at most twice, and classes hold no ranges but `a-z`, `A-Z` and `0-9`. */
const regexOf = (atom: string): string =>
  String.raw`(([\^$]|${atom}([*+?]\??|\{\d\}|\{\d,\})?)*)(\|([\^$]|${atom}([*+?]\??|\{\d\}|\{\d,\})?)*)*`;
const escapedClass = String.raw`\\[dDsSwW.*+?()\[\]{}|/\\^$nrt]`;
const literal = String.raw`[^\\^$.*+?()\[\]{}|/]`;
const classItem = String.raw`(${escapedClass}|[A-Za-z0-9_ .,:;@#%!*+?]|a-z|A-Z|0-9)`;
const atom = String.raw`(${literal}|\.|${escapedClass}|\[\^?${classItem}+\])`;
const grouped = (inner: string): string => String.raw`(${atom}|\((\?:)?${regexOf(inner)}\))`;
const regex = regexOf(grouped(grouped(atom)));

/** The unused bits of the last group of base64 are 0, as RFC 4648 demands of encoders. */
const base64 = (characters: string, padding: readonly [two: string, one: string], count: string): string => {
  const any = `[A-Za-z0-9${characters}]`;
  return `(${any}{4})${count}(${any}[AQgw]${padding[0]}|${any}{2}[AEIMQUYcgkosw048]${padding[1]})?`;
};
/** @param count how many groups of four characters, as a pattern */
export const plainBase64 = (count = "*"): string => base64("+/", ["==", "="], count);
/** Base64 in its URL alphabet, with optional padding. */
export const urlBase64 = (count = "*"): string => base64("_-", ["(==)?", "=?"], count);

/** Returns a pattern of the numbers from 1 to the given one. */
function upTo(digits: string): string {
  const shorter = String.raw`[1-9]\d{0,${digits.length - 2}}`;
  const less = Array.from(digits, (digit, place) => {
    const least = place === 0 ? 1 : 0;
    const rest = String.raw`\d{${digits.length - place - 1}}`;
    return Number(digit) > least ? [`${digits.slice(0, place)}[${least}-${Number(digit) - 1}]${rest}`] : [];
  });
  return [shorter, ...less.flat(), digits].join("|");
}

const patterns: Readonly<Record<string, string>> = {
  "date-time": `(${date})[Tt]${time}`,
  date,
  time,
  duration,
  email: email(""),
  "idn-email": email(ucs),
  hostname: plainHostname,
  // Only ASCII letters: the valid names with other letters are not a regular language.
  "idn-hostname": plainHostname,
  ipv4,
  ipv6,
  uri: uri.absolute,
  "uri-reference": uri.reference,
  iri: iri.absolute,
  "iri-reference": iri.reference,
  uuid: "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
  "uri-template": uriTemplate,
  "json-pointer": pointer,
  "relative-json-pointer": relativePointer,
  regex,
  "date-time-local": `(${date})[Tt]${clockTime}`,
  "time-local": clockTime,
  byte: plainBase64(),
  base64url: urlBase64(),
  char: "[^]",
  decimal: String.raw`-?(0|[1-9]\d*)(\.\d+)?`,
  int64: `0|${upTo("9223372036854775807")}|-(${upTo("9223372036854775808")})`,
  uint64: `0|${upTo("18446744073709551615")}`,
};

/** Anchors a pattern at both ends of the text. A look-ahead must be at the beginning of a pattern. */
export const anchored = (pattern: string): string => (/^\(\?[=!]/.test(pattern) ? `^${pattern}$` : `^(${pattern})$`);

/** For each format, by its name, a pattern of all its strings. */
export const formatPatterns: ReadonlyMap<string, string> = new Map(
  Object.entries(patterns).map(([name, pattern]) => [name, anchored(pattern)]),
);
