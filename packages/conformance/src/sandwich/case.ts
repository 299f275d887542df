import type { Answer } from "../wire/answer.ts";
import type { Behaviour } from "../wire/http-request.ts";
import type { Class, Difference } from "./compare.ts";
import type { Received, Script } from "./upstream.ts";

/** The place of a finding: on the way to the upstream, on the way back, or in the handling of the connections. */
export type Side = "request" | "answer" | "connection";

/** Something that the gateway lost, changed or invented. */
export interface Finding {
  readonly class: Class;
  readonly side: Side;
  /** A JSON pointer, or the name of the header, event or step. */
  readonly at: string;
  /** A note is legal, or a matter of taste: it does not count against the gateway unless the run is strict. */
  readonly isNote: boolean;
  /** One sentence for a reader who does not know the case. */
  readonly says: string;
  readonly sent?: string;
  readonly got?: string;
}

/** Everything that both ends saw of one case. */
export interface Seen {
  /** The body that the caller sent, as text. */
  readonly sent: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: Answer;
  /** The requests of this case that reached the upstream, oldest first. */
  readonly received: readonly Received[];
  readonly script: Script;
  /** Milliseconds of `performance.now()` when the caller had the end of the answer, or hung up. */
  readonly endedAtMs: number;
  readonly callerKey: string;
  /** The model as the caller names it, and as the gateway has to name it to the upstream, if that is known. */
  readonly model: string;
  readonly upstreamModel: string | undefined;
}

/** One request through the gateway, the upstream's answer to it, and the comparison of both ends. */
export interface Case {
  /** Permanent: `--only`, `--skip` and results name a case by it. */
  readonly name: string;
  readonly does: string;
  /** Members besides `model` and `messages`. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Further members as JSON text, for numbers that a JSON library would not write. */
  readonly raw?: string;
  /** Messages after the first one, which names the case. */
  readonly messages?: readonly unknown[];
  /** Headers of the caller besides the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly script: Script;
  readonly behaviour?: Behaviour;
  /** Default: nothing is expected of the answer if the request did not reach the upstream. */
  readonly judge: (seen: Seen) => readonly Finding[];
}

const maxQuoted = 200;
export const quote = (text: string): string => (text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text);

/** A finding from a difference of two JSON values. */
export const toFinding = (
  { class: kind, at, sent, got }: Difference,
  side: Side,
  options: { readonly isNote?: boolean; readonly says?: string } = {},
): Finding => ({
  class: kind,
  side,
  at,
  isNote: options.isNote ?? false,
  says: options.says ?? sentenceOf(kind, side, at),
  ...(sent !== undefined && { sent: quote(sent) }),
  ...(got !== undefined && { got: quote(got) }),
});

const sentenceOf = (kind: Class, side: Side, at: string): string => {
  const [from, to] = side === "request" ? ["caller", "upstream"] : ["upstream", "caller"];
  if (kind === "lost") return `The ${from} sent ${at}, and the ${to} did not receive it.`;
  return kind === "changed"
    ? `The ${from} and the ${to} see different values of ${at}.`
    : `The ${to} received ${at}, which the ${from} did not send.`;
};

export const finding = (
  kind: Class,
  side: Side,
  at: string,
  says: string,
  rest: { readonly isNote?: boolean; readonly sent?: string; readonly got?: string } = {},
): Finding => toFinding({ class: kind, at, ...rest }, side, { says, ...(rest.isNote && { isNote: true }) });
