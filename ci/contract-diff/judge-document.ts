import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { root } from "../root.ts";
import { isText, show } from "./change.ts";
import type { Change, Grade } from "./change.ts";
import { placeOf } from "./place.ts";

/** A difference as `redocly diff` tells it. */
interface Difference {
  readonly path: string;
  readonly typeName: string;
  readonly kind: "added" | "removed" | "modified";
  readonly impact: "major" | "minor" | "patch";
  /** Why it is more than a patch. */
  readonly verdicts: readonly {
    readonly ruleId: string;
    readonly message: string;
    readonly location: { readonly pointer: string };
  }[];
  /** The keyword, where one was modified. */
  readonly property?: string;
  readonly base?: { readonly value?: unknown };
  readonly revision?: { readonly value?: unknown };
}

/** Compares two bundles in everything that OpenAPI defines. @param released @param current their files */
export function judgeDocument(released: string, current: string): readonly Change[] {
  const flags = ["--format", "json", "--fail-on", "none", "--config", "ci/contract-diff/redocly.yaml"];
  const report = execFileSync("redocly", ["diff", released, current, ...flags], {
    cwd: root,
    env: { ...process.env, REDOCLY_TELEMETRY: "off" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 64 * 2 ** 20,
  });
  const document: unknown = JSON.parse(readFileSync(released, "utf8"));
  const { changes } = JSON.parse(report) as { readonly changes: readonly Difference[] }; // its documented form
  return changes
    .filter((one) => !isVersion(one) && !isWord(one))
    .map((one) => ({ grade: gradeOf(one, document), place: placeOf(one.path), what: describe(one) }));
}

const isVersion = ({ path, property }: Difference): boolean => path === "#/info" && property === "version";
/** What OpenAPI does not define is compared in `judge-words.ts`: Redocly overlooks some of it. */
const isWord = ({ typeName, property }: Difference): boolean =>
  typeName === "SpecExtension" || property?.startsWith("x-") === true;

/** Redocly's own verdict, but for what this contract promises in another way. */
function gradeOf(difference: Difference, released: unknown): Grade {
  const { typeName, kind, impact, property } = difference;
  if (property === undefined ? isOnlyForReaders(typeName) : isText(property)) return "editorial";
  if (mayGrow(difference, released)) return "additive";
  if (impact === "major") return "breaking";
  // Redocly takes this for harmless in a request: a member that was understood would be ignored.
  return kind === "removed" ? "breaking" : "additive";
}

const isOnlyForReaders = (typeName: string): boolean => ["Example", "Tag", "ExternalDocs"].includes(typeName);

/** An enum of answers to which a minor version may add: clients are told to survive a value that they do not know. */
const mayGrow = ({ verdicts }: Difference, released: unknown): boolean =>
  verdicts.length > 0 &&
  verdicts.every(
    ({ ruleId, location: { pointer } }) =>
      ruleId === "enum-values-added" && at(released, pointer.replace(/enum$/, "x-may-grow")) === true,
  );

/** What a JSON Pointer leads to. */
function at(document: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1);
  const decode = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");
  return steps.reduce<unknown>((node, step) => (isRecord(node) ? node[decode(step)] : undefined), document);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

function describe({ kind, verdicts, property, base, revision }: Difference): string {
  if (verdicts.length > 0) return verdicts.map(({ message }) => message).join(" ");
  if (kind !== "modified" || property === undefined) return `is ${kind}`;
  if (isText(property)) return `${property} has other words`;
  return `${property} is ${show(revision?.value)}, was ${show(base?.value)}`;
}
