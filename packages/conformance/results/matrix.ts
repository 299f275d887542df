import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { clauses } from "../src/contract/contract.ts";
import { sandwichNames } from "../src/sandwich/sandwich.ts";
import { readResults, writeLines } from "./result.ts";
import type { Result } from "./result.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
export const matrixFile = (set: string): string => join(here, set, "matrix.json");

/** The state of a clause or case in a row, one letter each: kept, broken, open, or a dot if it was not judged. */
function lettersOf(ids: readonly string[], { kept, failures, open }: Result): string {
  const named = (items: readonly unknown[]): ReadonlySet<string> =>
    // Failures of clauses have an id, findings of the sandwich the cases that show them.
    new Set(
      (
        items as readonly { readonly id?: string; readonly cases?: readonly string[]; readonly isNote?: true }[]
      ).flatMap(({ id, cases = [], isNote }) => (isNote ? [] : id === undefined ? cases : [id])),
    );
  const [isKept, isBroken, isOpen] = [new Set(kept), named(failures), named(open)];
  return ids.map((id) => (isBroken.has(id) ? "b" : isKept.has(id) ? "k" : isOpen.has(id) ? "o" : ".")).join("");
}

/** The products of a set side by side, as data for a page: `ids` are the columns of each row's `states`. */
export function buildMatrix(set: string, results: readonly Result[]): object {
  const products = new Map(results.map(({ product }) => [product.name, product]));
  const clauseIds = clauses.map(({ id }) => id);
  return {
    set,
    letters: { k: "kept", b: "broken", o: "open", ".": "not judged" },
    clauses: clauseIds,
    cases: sandwichNames,
    products: [...products.values()],
    rows: results.map((result) => {
      const { product, profile, date, maxAgeDays, checks, exitCode, counts, run } = result;
      const states = lettersOf(profile === "sandwich" ? sandwichNames : clauseIds, result);
      return {
        profile,
        product: product.name,
        date,
        maxAgeDays,
        checks,
        exitCode,
        counts,
        interop: run["interop"],
        states,
      };
    }),
  };
}

/** Writes the matrix of a set from its results. */
export const writeMatrix = (set: string): void => writeLines(matrixFile(set), buildMatrix(set, readResults(set)));
