import { errorMessage } from "./upstream.ts";
import type { End, Shape } from "./upstream.ts";

/** A client's report of one stream. */
export interface Finding {
  readonly client: string;
  readonly route: string;
  readonly shape: Shape;
  readonly end: End;
  /** Requests that arrived at the upstream: more than one shows a retry. */
  readonly requests: number;
  /** How the client says that the stream ended: `whole`, or its error. */
  readonly ended: string;
  readonly note: string;
  readonly verdict: string;
}

/** The line that a client prints about a stream. */
export interface Line {
  readonly text: string;
  readonly ended: string;
  readonly note?: string;
}

/**
 * In one or two words: `error` when the client reports the error event with its message, `whole` when it reports a complete
 * answer, `broken` when it reports the end of the connection only. Of an HTTP library, `saw` says that it gave the error
 * event before its own end. `text lost` says that the client did not give all the text before the failure.
 */
export function verdictOf({ text, ended }: Line): string {
  const lost = text.includes("one") && text.includes(" two") ? "" : ", text lost";
  const saw = text.includes("ERROR");
  if (ended.includes(errorMessage)) return `error${lost}`;
  if (ended === "whole") return `${saw ? "saw" : "whole"}${lost}`;
  return `${saw ? "saw, " : ""}broken${lost}`;
}

/** Writes the direct route in full, and for every other route only the cells that differ from it. */
export function writeTables(findings: readonly Finding[]): string {
  const direct = findings.filter(({ route }) => route === "direct");
  const ends = [...new Set(direct.map(({ end }) => end))];
  const rows = [...Map.groupBy(direct, ({ client }) => client)].map(
    ([client, its]) => `| ${client} | ${ends.map((end) => cellOf(its.filter((one) => one.end === end))).join(" | ")} |`,
  );
  const table = [`| client | ${ends.join(" | ")} |`, `| --- |${" --- |".repeat(ends.length)}`, ...rows];
  const others = findings.filter(({ route }) => route !== "direct");
  const differing = others.flatMap((one) => {
    const same = direct.find(
      ({ client, shape, end }) => client === one.client && shape === one.shape && end === one.end,
    );
    const [here, there] = [cellOf([one]), cellOf(same ? [same] : [])];
    return here === there
      ? []
      : [`- ${one.route}, ${one.client}, ${one.shape}, ${one.end}: ${here} instead of ${there}`];
  });
  const count = `${others.length} streams went through proxies. ${differing.length} of them differ from the direct route:`;
  return [...table, "", count, "", ...differing].join("\n");
}

function cellOf(findings: readonly Finding[]): string {
  const words = findings.map(({ verdict, requests }) => verdict + (requests === 1 ? "" : ` (${requests} requests)`));
  return [...new Set(words)].join(" / ");
}
