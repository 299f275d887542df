import { compare, parseExact } from "./compare.ts";
import type { Difference } from "./compare.ts";
import { finding, toFinding } from "./case.ts";
import type { Finding, Seen } from "./case.ts";

/** Headers that follow a request through all services. A gateway that drops them breaks traces, which is a note. */
const tracingHeaders = ["traceparent", "x-request-id", "idempotency-key"] as const;

/** Compares the request that the upstream received with the one that the caller sent. */
export function judgeRequest({ sent, headers, received, upstreamModel, callerKey }: Seen): Finding[] {
  const [first] = received;
  if (first === undefined) return [];
  const got = parseExact(first.body);
  if (got === undefined)
    return [
      finding("changed", "request", "the body", "The upstream received a body that is not JSON.", { got: first.body }),
    ];
  const differences = compare(parseExact(sent), got).filter(
    ({ at, got: name }) => at !== "/model" || (upstreamModel !== undefined && name !== JSON.stringify(upstreamModel)),
  );
  const leak = Object.entries(first.headers).find(([, value]) => callerKey !== "" && String(value).includes(callerKey));
  return [
    ...(leak === undefined
      ? []
      : [
          finding("invented", "request", `header ${leak[0]}`, "The caller's key of the gateway reached the upstream.", {
            isNote: true,
          }),
        ]),
    ...differences.map((difference) => toFinding(difference, "request", { isNote: isHarmless(difference) })),
    ...tracingHeaders
      .filter((name) => headers[name] !== undefined && first.headers[name] !== headers[name])
      .map((name) =>
        finding(
          first.headers[name] === undefined ? "lost" : "changed",
          "request",
          `header ${name}`,
          `The caller's header ${name} did not reach the upstream as it was sent.`,
          {
            isNote: true,
            sent: headers[name] ?? "",
            ...(first.headers[name] !== undefined && { got: String(first.headers[name]) }),
          },
        ),
      ),
  ];
}

/** Differences that change nothing for an engine: an unknown member, and a default that is written out. */
function isHarmless({ class: kind, at, got = "", sent = "" }: Difference): boolean {
  if (/\/x_[a-z_]+/.test(at)) return true;
  if (kind === "lost") return sent === "null" || (at === "/stream" && sent === "false");
  if (kind === "changed") return false;
  return got === "null" || (at === "/stream" && got === "false") || (at === "/n" && got === "1");
}
