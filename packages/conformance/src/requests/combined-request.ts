import type { Check, Step } from "../judge/check.ts";
import type { Context } from "../judge/context.ts";
import { cannot } from "../judge/finding.ts";
import { completionOf, isCompletion } from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";
import type { Header } from "../wire/ask.ts";
import { chat } from "./chat-request.ts";
import type { Members } from "./chat-request.ts";

/** What a clause wants accepted. Several of them travel in one request, and apart only where that one was refused. */
export interface Part {
  readonly clause: string;
  readonly how: string;
  readonly members?: Members;
  /** Messages in front of the last one. */
  readonly messages?: readonly Members[];
  readonly headers?: readonly Header[];
  readonly raw?: readonly string[];
  /** What must hold of the answer beside its being a completion; gives what was seen. */
  readonly judge?: (answer: Answer, context: Context, part: Part) => string;
  /** The clause only forbids that the server breaks: a refusal keeps it, too. */
  readonly mayBeRefused?: boolean;
  /** Whether mainstream SDKs send such requests. */
  readonly interopMatters?: boolean;
}

export interface CombinedRequest {
  readonly name: string;
  /** Members of the request that are nobody's part. */
  readonly base?: Members;
  /** Members that go over all others where the parts are together: what further clauses look at. */
  readonly together?: (context: Context) => Members;
  readonly parts: readonly Part[];
}

/** The request with every part in it, and one for each part alone, which is sent where the first was refused. */
export function combinedSteps({ name, base = {}, together, parts }: CombinedRequest): Step[] {
  const whole: Step = {
    name,
    needs: ["models"],
    isValid: true,
    asks: (context) => [combine(context, base, parts, together?.(context))],
  };
  const apart = parts.map((part): Step => ({
    name: apartName(name, part),
    needs: ["models", name],
    isValid: true,
    asks: (context) => {
      if (isCompletion(context.answer(name))) cannot(`"${name}" was accepted with everything in it`);
      return [combine(context, base, [part])];
    },
  }));
  return [whole, ...apart];
}

const apartName = (name: string, part: Part): string => `${name}, only ${part.clause}`;

function combine(context: Context, base: Members, parts: readonly Part[], over: Members = {}): ReturnType<typeof chat> {
  const { messages, ...others } = base;
  const last = Array.isArray(messages) ? messages : [{ role: "user", content: "Go." }];
  const members = Object.assign({}, ...parts.map((part) => part.members)) as Members; // members of objects are members
  return chat(
    context,
    { messages: [...parts.flatMap((part) => part.messages ?? []), ...last], ...others, ...members, ...over },
    {
      headers: parts.flatMap((part) => part.headers ?? []),
      raw: [...new Set(parts.flatMap((part) => part.raw ?? []))],
    },
  );
}

/** The checks of parts that travel in the request of this name. */
export const combinedChecks = (name: string, parts: readonly Part[]): Check[] =>
  parts.map((part) => checkOf(name, part));

function checkOf(name: string, part: Part): Check {
  const judge = (context: Context): string => {
    const together = context.answer(name);
    const answer = isCompletion(together) ? together : context.answer(apartName(name, part));
    const isRefused = answer.status !== undefined && answer.status >= 400 && answer.status < 500;
    if (part.mayBeRefused === true && isRefused) return `${answer.name}: refused with ${answer.status}`;
    completionOf(answer);
    return `${answer.name}: accepted${part.judge ? `; ${part.judge(answer, context, part)}` : ""}`;
  };
  return {
    clause: part.clause,
    how: part.how,
    uses: [name, apartName(name, part)],
    judge,
    ...(part.interopMatters === true && { interop: judge }),
  };
}
