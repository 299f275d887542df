import { isIP } from "node:net";

/** One setting: its name in every place where it can be given, and how its text is read. */
export interface Option<T> {
  /** Environment variable. */
  readonly env: string;
  /** Member of `parley.yaml`; the flag is the same with dashes. Undefined for a secret. */
  readonly key: string | undefined;
  readonly fallback: T;
  /** What an operator reads in `--help`. */
  readonly help: string;
  /** The value, or a complaint that completes the sentence "NAME must be …". */
  read(text: string): T | Complaint;
}

export class Complaint {
  readonly mustBe: string;

  constructor(mustBe: string) {
    this.mustBe = mustBe;
  }
}

export const text = (mustBe: string, pattern: RegExp) => (value: string) =>
  pattern.test(value) ? value : new Complaint(mustBe);

export const whole =
  (least: number, most: number, unit = "") =>
  (value: string) => {
    const isWhole = /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most;
    return isWhole ? Number(value) : new Complaint(`a whole number${unit && ` of ${unit}`} from ${least} to ${most}`);
  };

export const seconds = (most: number) => (value: string) => {
  const isNumber = /^\d+(\.\d+)?$/.test(value) && Number(value) > 0 && Number(value) <= most;
  return isNumber ? Number(value) * 1000 : new Complaint(`seconds, above 0 and at most ${most}`);
};

export const oneOf =
  <const T extends string>(...allowed: readonly T[]) =>
  (value: string) =>
    allowed.find((one) => one === value) ?? new Complaint(`one of ${allowed.join(", ")}`);

export const listOf = (mustBe: string, isRight: (part: string) => boolean) => (value: string) => {
  const parts = value.split(",").map((part) => part.trim());
  const given = parts.filter((part) => part !== "");
  return given.every(isRight) ? given : new Complaint(mustBe);
};

export const isOrigin = (text: string): boolean =>
  text === "*" || (URL.canParse(text) && new URL(text).origin === text);

/** An address, a network such as 10.0.0.0/8, or a name that Express gives to some of them. */
export function isProxy(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  const isMask = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
  return ["loopback", "linklocal", "uniquelocal"].includes(text) || (family !== 0 && isMask && rest.length === 0);
}

export const orUndefined = (value: string): string | undefined => (value === "" ? undefined : value);

export const option = <T>(
  env: string,
  fallback: NoInfer<T>,
  help: string,
  read: (value: string) => T | Complaint,
): Option<T> => {
  const key = env.toLowerCase().replace(/^parley_/, "");
  return { env, key, fallback, help, read };
};

export const secret = <T>(row: Option<T>): Option<T> => ({ ...row, key: undefined });

export const port = (value: string) => (value === "off" ? ("off" as const) : whole(0, 65_535)(value));

/** http or https, without a query: an address that paths are put behind. */
export const isBaseUrl = (text: string): boolean =>
  URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol) && new URL(text).search === "";
