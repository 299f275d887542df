import type { Check, Step } from "../judge/check.ts";
import { stepOfExchange } from "../judge/context.ts";
import type { Context } from "../judge/context.ts";
import { broken, cannot } from "../judge/finding.ts";
import { isCompletion, isRecord, mustRefuse } from "../judge/read.ts";
import type { Refusal } from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";
import { isShort } from "./short-run.ts";
import type { HttpRequest } from "../wire/http-request.ts";
import { chat } from "./chat-request.ts";
import type { ChatOptions, Members } from "./chat-request.ts";

/** One request that has to be refused. */
export interface Case extends ChatOptions {
  readonly title: string;
  /** Members that make an otherwise valid chat request invalid. */
  readonly members?: Members;
  /** Instead of `members`: the whole request. */
  readonly request?: (context: Context) => HttpRequest;
  /** Overrides what the clause expects of all its cases. */
  readonly want?: Partial<Refusal>;
  /** Judges a success that keeps the clause as well, such as a keyword that is enforced. Absent: only a refusal keeps it. */
  readonly orKept?: (answer: Answer) => void;
  /** Sent by every run, because other clauses use it. */
  readonly isAlways?: boolean;
  /** An exchange with the same fault. If it was refused correctly, it covers this case, which is not sent. */
  readonly coveredBy?: string;
}

export interface RefusalPlan {
  readonly clause: string;
  readonly want: Refusal;
  readonly cases: readonly Case[];
  /**
   * The number of cases that a short run chooses by its seed, in addition to those that are always sent or covered by another
   * exchange. Default: one if there are no such cases, otherwise none. An exhaustive run sends all.
   */
  readonly sample?: number;
  /** True if a run of more levels than core and stream sends every case, because it need not be short. */
  readonly isWide?: boolean;
  /** A step that has to be accepted in the same run, so that a server that refuses everything passes nothing. A GET is accepted
   * with a JSON object. */
  readonly positiveControl?: string;
}

/** The steps and the check of a clause that demands a refusal. */
export function refusal(plan: RefusalPlan): { readonly steps: Step[]; readonly check: Check } {
  const { clause, cases, want, positiveControl = "plain" } = plan;
  const nameOf = ({ title }: Case): string => `${clause} ${title}`;
  const chosen = (context: Context): readonly Case[] => chosenOf(plan, context);
  const each = (context: Context, judge: (answer: Answer, one: Case) => string): string => {
    const seen = chosen(context).flatMap((one) => {
      const answer = context.answer(nameOf(one));
      if (!one.orKept || !isCompletion(answer)) return judge(answer, one);
      one.orKept(answer);
      return [];
    });
    if (seen.length === 0) cannot("every case was accepted, and no answer shows a rule that is ignored");
    // Without a key nothing is accepted: the profile says that the run shows no more than refusals.
    if (context.profile.isKeyless !== true && !isAccepted(context.answer(positiveControl)))
      cannot(`nothing was accepted ("${positiveControl}"), so a refusal shows nothing`);
    return seen.join("; ");
  };
  const check: Check = {
    clause,
    how: `Sends ${cases.map(({ title }) => title).join(", ")}, and expects ${[want.status, want.code].filter(Boolean).join(" ")} each time, while "${positiveControl}" is accepted.`,
    uses: [...cases.map(nameOf), positiveControl],
    cases: (context) => ({ tried: chosen(context).length, of: cases.length }),
    judge: (context) => each(context, (answer, one) => mustRefuse(answer, { ...want, ...one.want })),
    common: (context) => each(context, (answer, one) => mustFailAs(answer, one.want?.status ?? want.status)),
  };
  return { steps: cases.map((one) => stepOf(plan, one, nameOf(one))), check };
}

function stepOf(plan: RefusalPlan, one: Case, name: string): Step {
  const { coveredBy } = one;
  return {
    name,
    isRefused: true,
    needs: ["models", ...(coveredBy === undefined ? [] : [stepOfExchange(coveredBy)])],
    ...(coveredBy !== undefined && {
      coveredBy: (context) => {
        mustRefuse(context.exchange(coveredBy), { ...plan.want, ...one.want });
        return coveredBy;
      },
    }),
    requests: (context) => {
      if (!chosenOf(plan, context).includes(one)) cannot("left out of a short run; --exhaustive sends every case");
      return [one.request ? one.request(context) : chat(context, one.members, one)];
    },
  };
}

const isAccepted = (answer: Answer): boolean =>
  answer.exchange.request.method === "GET" ? answer.status === 200 && isRecord(answer.json) : isCompletion(answer);

/** SDKs branch on the class of the status, and a few on the status itself. */
function mustFailAs(answer: Answer, status: number): string {
  const isAlike = answer.status === status || (status === 400 && answer.status === 422);
  return isAlike ? `${answer.name}: ${answer.status}` : broken(answer, `status ${status}`, answer.summary);
}

function chosenOf({ cases, sample, isWide }: RefusalPlan, { profile }: Context): readonly Case[] {
  if (profile.isExhaustive || (isWide === true && !isShort(profile))) return cases;
  const isGiven = ({ isAlways, coveredBy }: Case): boolean => isAlways === true || coveredBy !== undefined;
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
