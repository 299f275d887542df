import { randomUUID } from "node:crypto";

/** A unique id of so many hexadecimal digits, at most 32. Node draws the bytes of many UUIDs at once, so one costs little. */
export const newId = (prefix: string, digits: number): string =>
  prefix + randomUUID().replaceAll("-", "").slice(0, digits);
