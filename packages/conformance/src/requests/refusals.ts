import type { Check, Step } from "../judge/check.ts";
import { stepOfExchange } from "../judge/context.ts";
import type { Context } from "../judge/context.ts";
import { broken, cannot, show } from "../judge/finding.ts";
import { isCompletion, mustRefuse } from "../judge/read.ts";
import type { Refusal } from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";
import type { Ask } from "../wire/ask.ts";
import { chat } from "./chat-request.ts";
import type { ChatOptions, Members } from "./chat-request.ts";

/** One way to commit a fault. */
export interface Case extends ChatOptions {
  readonly title: string;
  /** Members of a chat request that is valid but for them. */
  readonly members?: Members;
  /** Instead of `members`: the whole request. */
  readonly ask?: (context: Context) => Ask;
  /** Over what the clause says for all of its cases. */
  readonly want?: Partial<Refusal>;
  /** Sent by every run, because other clauses look at it, too. */
  readonly isAlways?: boolean;
  /** An exchange that commits the same fault: where it was refused as it should be, the case is not sent. */
  readonly shownBy?: string;
}

export interface RefusalPlan {
  readonly clause: string;
  readonly want: Refusal;
  readonly cases: readonly Case[];
  /**
   * How many cases an ordinary run chooses by its seed, beside those that it always sends or that another exchange shows:
   * one, where there are none of these. A thorough run sends all.
   */
  readonly sample?: number;
  /** What was accepted in the same run, so that a server that refuses everything proves nothing. */
  readonly twin?: string;
}

/** Steps and check of a clause that says what is refused, and how. */
export function refusal(plan: RefusalPlan): { readonly steps: Step[]; readonly check: Check } {
  const { clause, cases, want, twin = "plain" } = plan;
  const nameOf = ({ title }: Case): string => `${clause} ${title}`;
  const chosen = (context: Context): readonly Case[] => chosenOf(plan, context);
  const each = (context: Context, judge: (answer: Answer, one: Case) => string): string => {
    const seen = chosen(context).map((one) => judge(context.answer(nameOf(one)), one));
    if (!isCompletion(context.answer(twin))) cannot(`nothing was accepted ("${twin}"), so a refusal shows nothing`);
    return seen.join("; ");
  };
  const check: Check = {
    clause,
    how: `Sends ${cases.map(({ title }) => title).join(", ")}, and expects ${[want.status, want.code].filter(Boolean).join(" ")} each time, while "${twin}" is accepted.`,
    uses: [...cases.map(nameOf), twin],
    cases: (context) => ({ tried: chosen(context).length, of: cases.length }),
    judge: (context) => each(context, (answer, one) => mustRefuse(answer, { ...want, ...one.want })),
    interop: (context) => each(context, (answer, one) => mustFailAs(answer, one.want?.status ?? want.status)),
  };
  return { steps: cases.map((one) => stepOf(plan, one, nameOf(one))), check };
}

function stepOf(plan: RefusalPlan, one: Case, name: string): Step {
  const { shownBy } = one;
  return {
    name,
    needs: ["models", ...(shownBy === undefined ? [] : [stepOfExchange(shownBy)])],
    ...(shownBy !== undefined && {
      shownBy: (context) => {
        mustRefuse(context.exchange(shownBy), { ...plan.want, ...one.want });
        return shownBy;
      },
    }),
    asks: (context) => {
      if (!chosenOf(plan, context).includes(one)) cannot("left out of a short run; --thorough sends every case");
      return [one.ask ? one.ask(context) : chat(context, one.members, one)];
    },
  };
}

/** Clients branch on the class of the status, and a few on the status itself. */
function mustFailAs(answer: Answer, status: number): string {
  const isAlike = answer.status === status || (status === 400 && answer.status === 422);
  return isAlike ? `${answer.name}: ${answer.status}` : broken(answer, `status ${status}`, show(answer.summary));
}

function chosenOf({ cases, sample }: RefusalPlan, { profile }: Context): readonly Case[] {
  if (profile.isThorough) return cases;
  const isGiven = ({ isAlways, shownBy }: Case): boolean => isAlways === true || shownBy !== undefined;
  const others = cases.filter((one) => !isGiven(one));
  const count = sample ?? (others.length === cases.length ? 1 : 0);
  const isDrawn = (one: Case): boolean =>
    (others.indexOf(one) - (profile.seed % others.length) + others.length) % others.length < count;
  return cases.filter((one) => isGiven(one) || isDrawn(one));
}

/** Several plans as their steps and checks. */
export function refusals(plans: readonly RefusalPlan[]): { readonly steps: Step[]; readonly checks: Check[] } {
  const made = plans.map(refusal);
  return { steps: made.flatMap(({ steps }) => steps), checks: made.map(({ check }) => check) };
}
