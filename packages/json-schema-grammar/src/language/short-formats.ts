import {
  anchored,
  delimiters,
  escapedByte,
  label,
  localPart,
  plainBase64,
  ucs,
  unreserved,
  urlBase64,
  withoutPunycode,
} from "./format-patterns.ts";

/**
 * Formats whose texts have a maximum length in characters. An automaton that counts the characters of any text of such a format
 * has as many states as the format's own one times the length, and is soon too large. In the patterns here each part has a
 * maximum length instead. They leave out texts that are long in an unusual way, such as an address of more than 60
 * characters with user information, and a URI of that length with many escaped bytes.
 */
interface ShortFormat {
  /** Up to this length, characters are counted exactly and no valid text is left out. */
  readonly counted: number;
  /** A pattern of texts of at most `max` characters, which is more than `counted`. */
  readonly pattern: (max: number) => string;
}

const maxOfLabel = 63;
const maxOfHost = 253;
const maxOfLocalPart = 64;
const maxOfScheme = 11;
/** A colon and five digits. */
const maxOfPort = 6;

/** Hosts of at most `max` characters: few long labels, or more shorter ones. */
function hosts(max: number, counts: readonly number[]): string {
  const least = (counts[0] ?? 1) - 1;
  return counts
    .map((count) => ({ count, length: Math.min(maxOfLabel, Math.floor((max - count + 1) / count)) }))
    .filter(({ length }) => length >= 2)
    .map(({ count, length }) => String.raw`(${label(length)}\.){${Math.min(least, 1)},${count - 1}}${label(length)}`)
    .join("|");
}

const hostname = (max: number): string => withoutPunycode(hosts(Math.min(max, maxOfHost), [1, 2, 4, 8]));

const email =
  (letters: string) =>
  (max: number): string => {
    const local = Math.min(maxOfLocalPart, max >> 1);
    const domain = hosts(Math.min(max - local - 1, maxOfHost), [2, 4, 8]);
    return `(?=[^@]{1,${local}}@)${localPart(letters)}@(${domain})`;
  };

/** Divides the characters of a URI among its parts. */
function shares(max: number): { host: number; shortHost: number; tail: number; escapes: number } {
  const fixed = maxOfScheme + "://".length + maxOfPort;
  const host = Math.min(maxOfHost, (max - fixed) >> 2);
  const shortHost = Math.min(maxOfLabel, host);
  // A fragment and the part before it, each with a maximum number of characters or escaped bytes.
  const escapes = Math.min(32, Math.floor((max - fixed - shortHost - "/#".length) / 6));
  return { host, shortHost, tail: max - fixed - host - "/".length, escapes };
}

function uriParts(letters: string, max: number): { hierarchy: string; rootless: string; noScheme: string } {
  const { host, shortHost, tail, escapes } = shares(max);
  const name = `${unreserved}${delimiters}${letters}`;
  const any = `[${name}:@/?]`;
  const port = String.raw`(:\d{0,${maxOfPort - 1}})?`;
  const plain = `([/?]${any}{0,${tail}})?`;
  const escaped = `(${any}|${escapedByte}){0,${escapes}}`;
  const hierarchy = `//([${name}]{0,${host}}${port}${plain}|[${name}]{0,${shortHost}}${port}([/?]${escaped})?(#${escaped})?)`;
  return {
    hierarchy,
    rootless: `(/?[${name}:@]${any}{0,${tail}})`,
    noScheme: `(/([${name}:@]${any}{0,${tail}})?|[${name}@]{1,${host}}${plain}|[${name}@]{0,${shortHost}}[?#]${escaped})?`,
  };
}

const uri =
  (letters: string) =>
  (max: number): string => {
    const { hierarchy, rootless } = uriParts(letters, max);
    return String.raw`[A-Za-z][A-Za-z0-9+\-.]{0,${maxOfScheme - 1}}:(${hierarchy}|${rootless})`;
  };

const uriReference =
  (letters: string) =>
  (max: number): string => {
    const { hierarchy, noScheme } = uriParts(letters, max);
    return `${uri(letters)(max)}|${hierarchy}|${noScheme}`;
  };

/** Texts of up to 1024 characters, or of any length where no answer reaches the maximum. */
const shortBase64 =
  (pattern: (count?: string) => string) =>
  (max: number): string =>
    max < 65_536 ? pattern(`{0,${(Math.min(max, 1024) >> 2) - 1}}`) : pattern();

const shortFormats: ReadonlyMap<string, ShortFormat> = new Map(
  Object.entries({
    email: { counted: 60, pattern: email("") },
    "idn-email": { counted: 60, pattern: email(ucs) },
    hostname: { counted: 30, pattern: hostname },
    "idn-hostname": { counted: 30, pattern: hostname },
    uri: { counted: 30, pattern: uri("") },
    iri: { counted: 30, pattern: uri(ucs) },
    "uri-reference": { counted: 30, pattern: uriReference("") },
    "iri-reference": { counted: 30, pattern: uriReference(ucs) },
    byte: { counted: 256, pattern: shortBase64(plainBase64) },
    base64url: { counted: 256, pattern: shortBase64(urlBase64) },
  }),
);

/** A pattern of texts of the format that have at most `max` characters; undefined where counting them is cheap. */
export function shortFormat(name: string, max: number): string | undefined {
  const short = shortFormats.get(name);
  const isCounted = short === undefined || max <= short.counted || max === Infinity;
  return isCounted ? undefined : anchored(short.pattern(max));
}
