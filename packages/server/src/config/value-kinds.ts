import { isIP } from "node:net";
import { z } from "zod";

/** The kinds of values that settings have. Each error message completes the sentence "NAME must be …". */

export const text = (mustBe: string, pattern: RegExp) => z.string({ error: mustBe }).regex(pattern, { error: mustBe });

export const path = () => text("a path", /./);

/** Returns the schema of an integer between two bounds, both included. */
export function whole(min: number, max: number, unit = "") {
  const error = `a whole number${unit && ` of ${unit}`} from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** Returns the schema of a duration above 0. It is given in seconds and stored in milliseconds. */
export function seconds(max: number) {
  const error = `seconds, above 0 and at most ${max}`;
  return z
    .number({ error })
    .gt(0, { error })
    .max(max, { error })
    .transform((value) => value * 1000);
}

/** Returns the schema of a duration that may be 0. It is given in seconds and stored in milliseconds. */
export function secondsOrNone(max: number) {
  const error = `seconds, from 0 to ${max}`;
  return z
    .number({ error })
    .min(0, { error })
    .max(max, { error })
    .transform((value) => value * 1000);
}

/** Returns the schema of a share. */
export function ratio() {
  const error = "a number from 0 to 1";
  return z.number({ error }).min(0, { error }).max(1, { error });
}

export const yesOrNo = () => z.boolean({ error: "true or false" });

export const oneOf = <const T extends string>(...allowed: readonly T[]) =>
  z.enum(allowed, { error: `one of ${allowed.join(", ")}` });

export const listOf = (mustBe: string, part: z.ZodType<string>) =>
  z.array(part, { error: `a list of ${mustBe}` }).readonly();

/** Returns the schema of a text that a function checks. */
const checked = (mustBe: string, isRight: (value: string) => boolean) =>
  z.string({ error: mustBe }).refine(isRight, { error: mustBe });

export const origin = () =>
  checked(
    "* or an origin such as https://app.example",
    (value) => value === "*" || (URL.canParse(value) && new URL(value).origin === value),
  );

/** Returns the schema of an address, a network, or one of Express's names for networks. */
export const proxy = () => checked("an address or a network such as 10.0.0.0/8", isProxy);

function isProxy(value: string): boolean {
  const [address = "", bits, ...rest] = value.split("/");
  const family = isIP(address);
  const isMask = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
  return ["loopback", "linklocal", "uniquelocal"].includes(value) || (family !== 0 && isMask && rest.length === 0);
}

/** Returns the schema of a URL to which paths are appended. */
export const baseUrl = () => checked("an http or https address without a query or a fragment", isBaseUrl);

const isBaseUrl = (value: string): boolean =>
  URL.canParse(value) && ["http:", "https:"].includes(new URL(value).protocol) && !/[?#]/.test(value);

/** Returns the schema of a key set: an address that nobody can replace on the way, or a file. */
export const keySet = () =>
  checked("an https address (http only on this machine) or the path of a file with a JSON Web Key Set", (value) => {
    const url = /^[a-z][\w+.-]*:\/\//i.test(value) ? URL.parse(value) : undefined;
    if (url === undefined) return value !== "";
    return url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  });

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

/** Returns the schema of a URL with one of these protocols, which end with a colon. */
export const address = (mustBe: string, ...protocols: readonly string[]) =>
  checked(mustBe, (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol));

/** Returns the schema of a calendar day. */
export const day = () =>
  checked("a date such as 2027-12-31", (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && isRealDay(value));

const isRealDay = (value: string): boolean => {
  const ms = Date.parse(value);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value);
};

/** Returns the schema of a price in US dollars. It is a text, because doubles cannot represent 0.0000003 exactly. */
export const price = () =>
  text('a decimal number of US dollars in quotation marks, such as "0.0000003"', /^[0-9]+(\.[0-9]+)?$/);

/** Returns the schema of a bearer token, as a header can contain it. */
export const bearer = () => text("printable characters without blanks", /^[!-~]+$/);

export function share() {
  const error = "a number above 0 and at most 1";
  return z.number({ error }).gt(0, { error }).max(1, { error });
}

/** Returns the schema of nested settings. Unknown names are faults. */
export const mapping = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape, { error: "a mapping of settings" });

/** Returns the schema of an optional setting, with a description. */
export const about = <S extends z.ZodType>(schema: S, description: string) => schema.optional().meta({ description });
