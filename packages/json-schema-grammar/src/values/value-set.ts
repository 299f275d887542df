import type { Language } from "../language/language.ts";
import type { ArraySet } from "./array-set.ts";
import type { Numbers } from "./numbers.ts";
import type { ObjectSet } from "./object-set.ts";

/** A set of JSON values: the union of its parts. */
export interface ValueSet {
  readonly hasNull: boolean;
  readonly booleans: readonly boolean[];
  readonly strings: Language;
  readonly numbers: Numbers;
  readonly arrays: readonly ArraySet[];
  readonly objects: readonly ObjectSet[];
}
