import type { Log, ReportingDescriptor, Result } from "sarif";
import { clauseOf } from "../contract/contract.ts";
import { failuresOf, isBroken, isOpen } from "./chapters.ts";
import type { ClauseReport, Report } from "./report.ts";

/** The findings as SARIF 2.1.0: a rule for each clause that was judged, a result for each that is broken or open. */
export function toSarif(report: Report): string {
  const judged = report.clauses.filter(({ state }) => state !== "NOT_APPLICABLE");
  const causeOf = new Map(
    failuresOf(report).flatMap(({ clause, cause, also }) => [clause.id, ...also].map((id) => [id, cause] as const)),
  );
  const log: Log = {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: report.suite.name,
            semanticVersion: report.suite.version,
            rules: judged.map(toRule),
          },
        },
        invocations: [
          {
            // SARIF asks if the tool did its work, not if the service passed.
            executionSuccessful: report.faults.length === 0 && report.run.isInterrupted !== true,
            exitCode: report.exitCode,
            ...(report.run.startedAt !== "" && { startTimeUtc: report.run.startedAt }),
          },
        ],
        properties: { baseUrl: report.run.baseUrl, contract: report.contract.version, verdict: report.verdict },
        results: judged.flatMap((clause, ruleIndex) =>
          isBroken(clause) || isOpen(clause) ? [toResult(clause, ruleIndex, report, causeOf.get(clause.id))] : [],
        ),
      },
    ],
  };
  return `${JSON.stringify(log, undefined, 1)}\n`;
}

function toRule({ id, sentence, keyword }: ClauseReport): ReportingDescriptor {
  const clause = clauseOf.get(id);
  return {
    id,
    shortDescription: { text: sentence },
    ...(clause && { fullDescription: { text: clause.why }, help: { text: clause.comply } }),
    defaultConfiguration: { level: keyword === "MUST" ? "error" : "warning" },
  };
}

function toResult(clause: ClauseReport, ruleIndex: number, report: Report, cause: string | undefined): Result {
  const { id, state, note, expected, actual, exchange, curl } = clause;
  const text = expected === undefined ? note : `Expected ${expected}. Found ${actual}.`;
  const isSuppressed = state === "XFAIL";
  return {
    ruleId: id,
    ruleIndex,
    ...kindOf(clause),
    message: { text },
    // A service has no source file. The report beside this file is the place to look at.
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: "report.html" }, region: { startLine: 1 } },
        logicalLocations: [{ fullyQualifiedName: `${report.run.baseUrl} ${exchange ?? id}`, kind: "resource" }],
      },
    ],
    partialFingerprints: { "clause/v1": id },
    ...(isSuppressed && { suppressions: [{ kind: "external" as const, justification: note }] }),
    properties: { state, ...(cause !== undefined && { cause }), ...(curl !== undefined && { curl }) },
  };
}

function kindOf(clause: ClauseReport): Pick<Result, "kind" | "level"> {
  if (isOpen(clause)) return { kind: "open", level: "none" };
  return { kind: "fail", level: clause.state === "WARN" ? "warning" : "error" };
}
