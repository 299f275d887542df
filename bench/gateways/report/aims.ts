import { median, medianOf } from "./result.ts";
import type { BenchResult } from "./result.ts";

/** An aim of the project: a ratio within one run. A missed aim fails nothing. */
interface Aim {
  readonly title: string;
  readonly figure: string;
  readonly subject: string;
  /** The subject to compare with; `best` is the best of all. */
  readonly against: string;
  /** Of the medians; `paired` is the median of the ratios of each round, because the machine may be faster in another one. */
  readonly kind: "ratio" | "difference" | "paired";
  readonly atMost?: number;
  readonly atLeast?: number;
}

const parleys = ["parley-chat", "parley-ids"];
const each = (aim: Omit<Aim, "subject">): Aim[] => parleys.map((subject) => ({ ...aim, subject }));

const aims: readonly Aim[] = [
  { title: "plain answer", figure: "plain", subject: "parley-chat", against: "node", kind: "ratio", atMost: 3 },
  { title: "plain answer", figure: "plain", subject: "parley-ids", against: "node", kind: "ratio", atMost: 4 },
  ...[
    { title: "plain answer, traced", figure: "plain" },
    { title: "streamed answer, traced", figure: "stream" },
  ].map((aim) => ({
    ...aim,
    subject: "parley-traced",
    against: "parley-ids",
    kind: "paired" as const,
    atMost: 1.03,
  })),
  ...each({ title: "streamed event, many streams", figure: "event-500", against: "node", kind: "ratio", atMost: 1.3 }),
  ...each({ title: "streamed event, few streams", figure: "event-100", against: "node", kind: "ratio", atMost: 1.3 }),
  ...each({ title: "99 % of gaps", figure: "gap-500", against: "nginx", kind: "ratio", atMost: 2 }),
  ...each({ title: "stream of one token", figure: "one-token", against: "node", kind: "ratio", atMost: 2.5 }),
  ...each({ title: "first token, ms more", figure: "first-token", against: "direct", kind: "difference", atMost: 0.3 }),
  ...each({ title: "plain answer, ms more", figure: "answer", against: "direct", kind: "difference", atMost: 0.5 }),
  ...each({ title: "answers a second", figure: "requests", against: "best", kind: "ratio", atLeast: 0.9 }),
  ...each({
    title: "streams opened while all speak",
    figure: "open-500",
    against: "vllm-router",
    kind: "ratio",
    atMost: 2,
  }),
  ...each({ title: "burst, refused or cut", figure: "burst-lost", against: "nothing", kind: "difference", atMost: 0 }),
  ...each({ title: "burst after a break", figure: "after-lost", against: "nothing", kind: "difference", atMost: 0 }),
  ...each({
    title: "memory of a silent stream, KiB",
    figure: "stream-memory",
    against: "nothing",
    kind: "difference",
    atMost: 32,
  }),
  ...each({ title: "memory at rest, MB", figure: "rest-memory", against: "nothing", kind: "difference", atMost: 120 }),
  ...each({ title: "start to /health, ms", figure: "health", against: "nothing", kind: "difference", atMost: 250 }),
];

/** An aim and the measured ratio. */
export interface AimRow {
  readonly title: string;
  readonly subject: string;
  readonly against: string;
  readonly aim: string;
  readonly measured: number;
  /** The ratio of each round; undefined if medians were compared. */
  readonly rounds: readonly number[] | undefined;
  readonly isMet: boolean;
}

/** Compares a run with the aims. Aims for which one side was not measured are left out. */
export function compareWithAims(result: BenchResult): AimRow[] {
  return aims.flatMap((aim) => {
    const own = measuredOf(result, aim, aim.subject);
    const other = aim.against === "nothing" ? 0 : measuredOf(result, aim, aim.against);
    if (own === undefined || other === undefined) return [];
    const rounds = aim.kind === "paired" ? ratiosOf(result, aim) : undefined;
    const measured = rounds ? median(rounds) : aim.kind === "difference" ? own - other : own / other;
    const { title, subject, against, atMost, atLeast } = aim;
    const isMet = measured <= (atMost ?? Number.POSITIVE_INFINITY) && measured >= (atLeast ?? Number.NEGATIVE_INFINITY);
    const bound = atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
    return [{ title, subject, against, aim: bound, measured, rounds, isMet }];
  });
}

/** Returns the ratio of each round; undefined if a subject failed in some round. */
function ratiosOf({ figures, rounds }: BenchResult, { figure: id, subject, against }: Aim): number[] | undefined {
  const values = figures.find((one) => one.id === id)?.values ?? {};
  const [own = [], others = []] = [values[subject], values[against]];
  if (own.length !== rounds || others.length !== rounds) return undefined;
  return own.map((value, round) => value / (others[round] ?? Number.NaN));
}

function measuredOf({ figures, subjects }: BenchResult, { figure: id }: Aim, subject: string): number | undefined {
  const figure = figures.find((one) => one.id === id);
  if (subject !== "best") return medianOf(figure, subject);
  const gateways = subjects.filter(({ name }) => name !== "direct");
  const values = gateways.flatMap(({ name }) => medianOf(figure, name) ?? []);
  return values.length === 0 ? undefined : Math.max(...values);
}
