import { isDeepStrictEqual } from "node:util";
import { hangs } from "./outcome.ts";
import type { SeenChoice } from "./outcome.ts";
import type { Observed } from "./target.ts";

/**
 * Says what a user of an SDK sees because of a bug. Undefined: the same as without, or the call shows nothing, because the SDK
 * fails without it, too.
 */
export function differenceOf(kept: Observed, broken: Observed, mustFail = false): string | undefined {
  if (kept.throws === hangs || (kept.throws !== undefined && !mustFail)) return undefined;
  const { requests } = broken;
  const found = [...errorDifferences(kept, broken), ...answerDifferences(kept, broken)];
  if (requests !== kept.requests) found.push(`sends ${requests} requests instead of ${kept.requests}`);
  return found.length === 0 ? undefined : found.join("; ");
}

/** Errors tell more than texts. */
export const weightOf = (sees: string): number =>
  Number(sees.includes("throws ")) * 2 + Number(sees.includes("sends ")) - Number(sees.startsWith("does not"));

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
};

function errorDifferences(kept: Observed, broken: Observed): string[] {
  const isTold = broken.says === undefined || broken.says === "the server's";
  const said = isTold ? "" : ` (${broken.says.replaceAll(/\s+/g, " ").slice(0, 90).trim()})`;
  if (broken.throws !== kept.throws) {
    if (broken.throws === undefined) return [`does not throw ${kept.throws ?? ""}`];
    return [`throws ${broken.throws}${said}${kept.throws === undefined ? "" : ` instead of ${kept.throws}`}`];
  }
  return kept.says === "the server's" && !isTold ? [`throws without the server's message${said}`] : [];
}

function answerDifferences(kept: Observed, broken: Observed): string[] {
  if (kept.throws !== undefined && broken.throws === undefined) return [];
  const found = (["models", "parsed", "usage"] as const).flatMap((name) =>
    broken.throws !== undefined || isDeepStrictEqual(kept[name], broken[name])
      ? []
      : [`${name} ${short(broken[name])} instead of ${short(kept[name])}`],
  );
  const [before, after] = [kept.choices ?? [], broken.choices ?? []];
  if (broken.throws !== undefined && broken.throws !== kept.throws) return [];
  if (before.length !== after.length) return [...found, `${after.length} choices instead of ${before.length}`];
  return [...found, ...after.flatMap((choice, place) => choiceDifferences(before[place], choice)).slice(0, 2)];
}

const choiceDifferences = (before: SeenChoice | undefined, after: SeenChoice): string[] =>
  (["text", "reasoning", "finish", "calls", "logprobs"] as const).flatMap((name) =>
    before === undefined || isDeepStrictEqual(before[name], after[name])
      ? []
      : [`${name} ${short(after[name])} instead of ${short(before[name])}`],
  );
