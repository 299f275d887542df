import { toJsonNumber } from "../json/exact-number.ts";
import type { JsonNumber } from "../json/exact-number.ts";
import { Language } from "./language.ts";

/** The numbers of a format of the OpenAPI format registry. Each bound is itself a number of the format. */
export interface NumberFormat {
  readonly isInteger: boolean;
  /** Undefined: every number that a double can hold, which is every number that a grammar lets a model write. */
  readonly bounds: { readonly minimum: JsonNumber; readonly maximum: JsonNumber } | undefined;
}

const within = (minimum: bigint, maximum: bigint): NumberFormat => ({
  isInteger: true,
  bounds: { minimum: toJsonNumber(String(minimum)), maximum: toJsonNumber(String(maximum)) },
});
const signed = (bits: bigint): NumberFormat => within(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n);
const unsigned = (bits: bigint): NumberFormat => within(0n, 2n ** bits - 1n);
/** The largest float, as JavaScript writes it. This is slightly larger, by less than half of the distance to the next float. */
const largestFloat = 3.4028234663852886e38;

const formats: ReadonlyMap<string, NumberFormat> = new Map(
  Object.entries({
    int8: signed(8n),
    int16: signed(16n),
    int32: signed(32n),
    int64: signed(64n),
    uint8: unsigned(8n),
    uint16: unsigned(16n),
    uint32: unsigned(32n),
    uint64: unsigned(64n),
    "double-int": within(1n - 2n ** 53n, 2n ** 53n - 1n),
    // Every decimal within the range stands for the nearest number of the format.
    float: { isInteger: false, bounds: { minimum: -largestFloat, maximum: largestFloat } },
    double: { isInteger: false, bounds: undefined },
  }),
);

/** Returns the constraint of a format on numbers; undefined where it has none. */
export const numberFormat = (name: string | undefined): NumberFormat | undefined =>
  name === undefined ? undefined : formats.get(name);

/** Checks if a format constrains numbers or strings. Any other name is not a known format. */
export const isKnownFormat = (name: string): boolean => formats.has(name) || Language.format(name) !== undefined;
