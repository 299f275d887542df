import type { Check, Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { broken, cannot, show } from "../judge/finding.ts";
import { isCompletion, mustRefuse } from "../judge/read.ts";
import type { Refusal } from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";
import type { Ask } from "../wire/ask.ts";
import { chat } from "./ask.ts";
import type { ChatOptions, Members } from "./ask.ts";

/** One way to commit a fault. */
export interface Case extends ChatOptions {
  readonly title: string;
  /** Members of a chat request that is valid but for them. */
  readonly members?: Members;
  /** Instead of `members`: the whole request. */
  readonly ask?: (context: Context) => Ask;
  /** Over what the clause says for all of its cases. */
  readonly want?: Partial<Refusal>;
}

export interface RefusalPlan {
  readonly clause: string;
  readonly want: Refusal;
  readonly cases: readonly Case[];
  /** How many cases an ordinary run sends; a thorough one sends all. */
  readonly sample?: number;
  /** What was accepted in the same run, so that a server that refuses everything proves nothing. */
  readonly twin?: string;
}

/** Steps and check of a clause that says what is refused, and how. */
export function refusal(plan: RefusalPlan): { readonly steps: Step[]; readonly check: Check } {
  const { clause, cases, want, twin = "plain" } = plan;
  const names = cases.map(({ title }) => `${clause} ${title}`);
  const steps = cases.map((one, index): Step => ({
    name: names[index] ?? "",
    needs: ["models"],
    asks: (context) => {
      if (!isChosen(plan, index, context)) cannot("left out of a short run; --thorough sends every case");
      return [one.ask ? one.ask(context) : chat(context, one.members, one)];
    },
  }));
  const each = (context: Context, judge: (answer: Answer, one: Case) => string): string => {
    const sent = cases.flatMap((one, index) => {
      const name = names[index] ?? "";
      return isChosen(plan, index, context) ? [judge(context.answer(name), one)] : [];
    });
    if (!isCompletion(context.answer(twin))) cannot(`nothing was accepted ("${twin}"), so a refusal shows nothing`);
    return sent.join("; ");
  };
  const check: Check = {
    clause,
    how: `Sends ${cases.map(({ title }) => title).join(", ")}, and expects ${want.status} ${want.code} each time, while "${twin}" is accepted.`,
    uses: [...names, twin],
    judge: (context) => each(context, (answer, one) => mustRefuse(answer, { ...want, ...one.want })),
    interop: (context) => each(context, (answer, one) => mustFailAs(answer, one.want?.status ?? want.status)),
  };
  return { steps, check };
}

/** Clients branch on the class of the status, and a few on the status itself. */
function mustFailAs(answer: Answer, status: number): string {
  const isAlike = answer.status === status || (status === 400 && answer.status === 422);
  return isAlike ? `${answer.name}: ${answer.status}` : broken(answer, `status ${status}`, show(answer.summary));
}

function isChosen({ cases, sample = 1 }: RefusalPlan, index: number, { profile }: Context): boolean {
  if (profile.isThorough) return true;
  return (index - (profile.seed % cases.length) + cases.length) % cases.length < sample;
}

/** The plans of a chapter as its steps and checks. */
export function refusals(plans: readonly RefusalPlan[]): { readonly steps: Step[]; readonly checks: Check[] } {
  const made = plans.map(refusal);
  return { steps: made.flatMap(({ steps }) => steps), checks: made.map(({ check }) => check) };
}
