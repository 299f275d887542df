import type { AdapterAnswer, Outcome, SdkError, Task } from "./protocol.ts";
import { usage } from "./answers.ts";
import type { SeenRequest, Serve } from "./scripted-server.ts";

/** A rule for clients: its text, and the cases that show whether an SDK keeps it. */
export interface ClientClause {
  readonly id: `CLNT-${string}`;
  readonly keyword: "MUST" | "SHOULD";
  readonly sentence: string;
  /** The harm to the user of an SDK that breaks it. */
  readonly why: string;
  /** How the author of an SDK keeps it. */
  readonly comply: string;
  /** The clause is kept if every case that applies is. */
  readonly cases: readonly Case[];
}

export interface Case {
  readonly name: string;
  readonly task?: Partial<Task>;
  readonly serve: Serve;
  readonly judge: (evidence: Evidence) => Finding;
  /** The time for the whole case, in milliseconds, from its first request. Default: `defaultLimitMs`. */
  readonly limitMs?: number;
}

export const defaultLimitMs = 20_000;

/** Everything that a case has shown. */
export interface Evidence {
  readonly task: Task;
  readonly outcome: Outcome;
  readonly answer: AdapterAnswer;
  readonly requests: readonly SeenRequest[];
  readonly connections: number;
  /** Requests that the other host has received. */
  readonly otherRequests: readonly SeenRequest[];
  /** Milliseconds from the first request to the answer of the adapter. */
  readonly tookMs: number;
}

/** Undefined: the case shows that the clause is kept. */
export type Finding =
  | undefined
  | { readonly expected: string; readonly actual: string }
  | { readonly notApplicable: string };

export const broken = (expected: string, actual: string): Finding => ({ expected, actual });
export const notApplicable = (why: string): Finding => ({ notApplicable: why });

/** Returns the first finding of several judges. */
export const both =
  (...judges: readonly Case["judge"][]): Case["judge"] =>
  (evidence) => {
    for (const judge of judges) {
      const finding = judge(evidence);
      if (finding !== undefined) return finding;
    }
    return undefined;
  };

const maxShown = 160;

/** Returns a value as JSON, shortened, for a report. */
export function show(value: unknown): string {
  const json = JSON.stringify(value) ?? "nothing";
  return json.length <= maxShown ? json : `${json.slice(0, maxShown)}… (${json.length} characters)`;
}

function describeError(error: SdkError): string {
  const status = typeof error.status === "number" ? ` with status ${error.status}` : "";
  return `${error.class}${status}: ${show(error.message ?? "")}`;
}

/** Describes everything that the caller of the SDK got. */
export function describeAnswer({ text, finishReason, toolCalls, error }: AdapterAnswer): string {
  if (error) return `an error, ${describeError(error)}`;
  const calls = toolCalls && toolCalls.length > 0 ? `, the calls ${show(toolCalls)}` : "";
  return `the text ${show(text)}${calls}, and the finish reason ${show(finishReason)}`;
}

/** Judges that the caller got this text, without an error. */
export const givesText =
  (wanted: string): Case["judge"] =>
  ({ answer }) =>
    !answer.error && answer.text === wanted
      ? undefined
      : broken(`the text ${show(wanted)}, without an error`, describeText(answer, wanted));

function describeText(answer: AdapterAnswer, wanted: string): string {
  const { text } = answer;
  if (answer.error || typeof text !== "string" || text.length <= maxShown) return describeAnswer(answer);
  let at = 0;
  while (text[at] === wanted[at] && at < text.length) at += 1;
  return `a text of ${text.length} characters instead of ${wanted.length}, which differs from character ${at}`;
}

/** Judges that the caller got an error. */
export const givesError: Case["judge"] = ({ answer }) =>
  answer.error ? undefined : broken("an error", describeAnswer(answer));

/** Judges that a part of an answer does not look like a whole one. */
export const looksIncomplete: Case["judge"] = ({ answer }) =>
  answer.error || isNoReason(answer.finishReason)
    ? undefined
    : broken("an error, or no finish reason", describeAnswer(answer));

/** SDKs have several spellings of "the server named no reason". */
const isNoReason = (reason: string | null | undefined): boolean =>
  reason === undefined || reason === null || /^(|null|none|unknown|other|error)$/i.test(reason);

/** Judges that the usage of the answer reached the caller. */
export const givesUsage: Case["judge"] = ({ answer }) =>
  answer.usage?.promptTokens === usage.prompt_tokens && answer.usage.completionTokens === usage.completion_tokens
    ? undefined
    : broken(
        `usage: ${usage.prompt_tokens} prompt and ${usage.completion_tokens} completion tokens`,
        show(answer.usage),
      );

const countRequests = (count: number): string => `${count} request${count === 1 ? "" : "s"}`;

/** Judges the number of requests. */
export const sends =
  (min: number, max: number): Case["judge"] =>
  ({ requests: { length } }) =>
    length >= min && length <= max
      ? undefined
      : broken(min === max ? countRequests(min) : `${min} to ${countRequests(max)}`, countRequests(length));

export const headersOf = (request: SeenRequest | undefined, name: string): string[] =>
  (request?.headers ?? []).filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
