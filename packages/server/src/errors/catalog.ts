import contract from "@parley/contract/contract.json" with { type: "json" };
import type { components } from "@parley/contract/types";

export type ErrorCode = components["schemas"]["ErrorCode"];
export type ErrorType = components["schemas"]["ErrorType"];

export interface CatalogEntry {
  readonly status: number;
  readonly type: ErrorType;
  /** True if it can end a stream that has begun. */
  readonly in_stream: boolean;
}

/** The contract's entry of every error code. */
export const catalog = contract["x-error-catalog"] as unknown as Readonly<Record<ErrorCode, CatalogEntry>>; // a test of the tree compares both lists
