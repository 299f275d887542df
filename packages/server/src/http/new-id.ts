import { randomUUID } from "node:crypto";

/**
 * Returns a unique id: the prefix and this number of hexadecimal digits, at most 32. UUIDs are fast, because Node generates
 * the random bytes of many at once.
 */
export const newId = (prefix: string, digits: number): string =>
  prefix + randomUUID().replaceAll("-", "").slice(0, digits);
