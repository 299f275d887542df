import { isIP } from "node:net";
import { z } from "zod";

/**
 * The kinds of values that settings have. The message of each completes the sentence "NAME must be …", so that a fault
 * says what to write instead.
 */

export const text = (mustBe: string, pattern: RegExp) => z.string({ error: mustBe }).regex(pattern, { error: mustBe });

export const path = () => text("a path", /./);

/** An integer between these bounds, both included. */
export function whole(least: number, most: number, unit = "") {
  const error = `a whole number${unit && ` of ${unit}`} from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

/** A duration: given in seconds, kept in milliseconds. */
export function seconds(most: number) {
  const error = `seconds, above 0 and at most ${most}`;
  return z
    .number({ error })
    .gt(0, { error })
    .max(most, { error })
    .transform((value) => value * 1000);
}

/** A duration that may be none: given in seconds, kept in milliseconds. */
export function secondsOrNone(most: number) {
  const error = `seconds, from 0 to ${most}`;
  return z
    .number({ error })
    .min(0, { error })
    .max(most, { error })
    .transform((value) => value * 1000);
}

export const yesOrNo = () => z.boolean({ error: "true or false" });

export const oneOf = <const T extends string>(...allowed: readonly T[]) =>
  z.enum(allowed, { error: `one of ${allowed.join(", ")}` });

export const listOf = (mustBe: string, part: z.ZodType<string>) =>
  z.array(part, { error: `a list of ${mustBe}` }).readonly();

/** What a test decides, in place of a pattern. */
const checked = (mustBe: string, isRight: (value: string) => boolean) =>
  z.string({ error: mustBe }).refine(isRight, { error: mustBe });

export const origin = () =>
  checked(
    "* or an origin such as https://app.example",
    (value) => value === "*" || (URL.canParse(value) && new URL(value).origin === value),
  );

/** An address, a network, or a name that Express gives to some of them. */
export const proxy = () => checked("an address or a network such as 10.0.0.0/8", isProxy);

function isProxy(value: string): boolean {
  const [address = "", bits, ...rest] = value.split("/");
  const family = isIP(address);
  const isMask = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
  return ["loopback", "linklocal", "uniquelocal"].includes(value) || (family !== 0 && isMask && rest.length === 0);
}

/** An address that paths are put behind. */
export const baseUrl = () => checked("an http or https address without a query", isBaseUrl);

const isBaseUrl = (value: string): boolean =>
  URL.canParse(value) && ["http:", "https:"].includes(new URL(value).protocol) && new URL(value).search === "";

/** A calendar day. */
export const day = () =>
  checked("a date such as 2027-12-31", (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && isRealDay(value));

const isRealDay = (value: string): boolean => {
  const ms = Date.parse(value);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value);
};

/** US dollars: text, because a price such as 0.0000003 is no exact double. */
export const price = () =>
  text('a decimal number of US dollars in quotation marks, such as "0.0000003"', /^[0-9]+(\.[0-9]+)?$/);

/** What a header can carry as a bearer token. */
export const bearer = () => text("printable characters without blanks", /^[!-~]+$/);

export function share() {
  const error = "a number above 0 and at most 1";
  return z.number({ error }).gt(0, { error }).max(1, { error });
}

/** Settings below a name; a name that is not listed is a fault. */
export const mapping = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape, { error: "a mapping of settings" });

/** A setting that may be left out, with what it is. */
export const about = <S extends z.ZodType>(schema: S, description: string) => schema.optional().meta({ description });
