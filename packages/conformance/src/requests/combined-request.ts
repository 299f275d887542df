import type { Check, Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { completionOf, isCompletion } from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";
import type { Header } from "../wire/http-request.ts";
import { chat } from "./chat-request.ts";
import type { Members } from "./chat-request.ts";

/** Members or headers that a clause requires a service to accept. Several parts are sent in one request, and separately only if
 * that request is refused. */
export interface Part {
  readonly clause: string;
  readonly how: string;
  readonly members?: Members | ((context: Context) => Members);
  /** Messages in front of the last one. */
  readonly messages?: readonly Members[];
  readonly headers?: readonly Header[];
  readonly raw?: readonly string[];
  /** Judges the completion; returns what was seen. */
  readonly judge?: (answer: Answer, context: Context, part: Part) => string;
  /** Other servers have to accept it, and owe nothing of what `judge` looks for. */
  readonly isOwnJudge?: boolean;
  /** The clause only forbids a crash of the server: a refusal keeps it. */
  readonly mayBeRefused?: boolean;
}

export interface CombinedRequest {
  readonly name: string;
  /** Members that belong to no part. */
  readonly base?: Members;
  /** Members that override all others when the parts are combined, for further clauses. */
  readonly together?: (context: Context) => Members;
  readonly parts: readonly Part[];
}

/** The request with every part in it, and one request per part, which is sent if the first one is refused. */
export function combinedSteps({ name, base = {}, together, parts }: CombinedRequest): Step[] {
  const whole: Step = {
    name,
    needs: ["models"],
    isValid: true,
    requests: (context) => [combine(context, base, judged(parts, context), together?.(context))],
  };
  const apart = parts.map((part): Step => ({
    name: apartName(name, part),
    needs: ["models", name],
    isValid: true,
    requests: (context) => {
      if (isCompletion(context.answer(name))) cannot(`"${name}" was accepted with everything in it`);
      return [combine(context, base, [part])];
    },
  }));
  return [whole, ...apart];
}

/** The parts of clauses that the run judges; all of them if it judges none, because then another clause uses the request. */
function judged(parts: readonly Part[], { profile: { clauses } }: Context): readonly Part[] {
  const own = parts.filter(({ clause }) => clauses?.includes(clause) ?? true);
  return own.length > 0 ? own : parts;
}

const apartName = (name: string, part: Part): string => `${name}, only ${part.clause}`;

function combine(context: Context, base: Members, parts: readonly Part[], over: Members = {}): ReturnType<typeof chat> {
  const { messages, ...others } = base;
  const last = Array.isArray(messages) ? messages : [{ role: "user", content: "Go." }];
  const membersOf = ({ members }: Part): Members | undefined =>
    typeof members === "function" ? members(context) : members;
  const members = Object.assign({}, ...parts.map(membersOf)) as Members; // parts of objects are objects
  return chat(
    context,
    { messages: [...parts.flatMap((part) => part.messages ?? []), ...last], ...others, ...members, ...over },
    {
      headers: parts.flatMap((part) => part.headers ?? []),
      raw: [...new Set(parts.flatMap((part) => part.raw ?? []))],
    },
  );
}

/** The checks of the parts in the request of this name. */
export const combinedChecks = (name: string, parts: readonly Part[]): Check[] =>
  parts.map((part) => checkOf(name, part));

function checkOf(name: string, part: Part): Check {
  const judgeWith = (judge: Part["judge"]) => (context: Context) => {
    const together = context.answer(name);
    const answer = isCompletion(together) ? together : context.answer(apartName(name, part));
    const isRefused = answer.status !== undefined && answer.status >= 400 && answer.status < 500;
    if (part.mayBeRefused === true && isRefused) return `${answer.name}: refused with ${answer.status}`;
    completionOf(answer);
    return `${answer.name}: accepted${judge ? `; ${judge(answer, context, part)}` : ""}`;
  };
  return {
    clause: part.clause,
    how: part.how,
    uses: [name, apartName(name, part)],
    judge: judgeWith(part.judge),
    ...(part.isOwnJudge === true && { common: judgeWith(undefined) }),
  };
}
