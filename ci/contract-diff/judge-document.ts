import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isRecord } from "@parley/common/is-record";
import { root } from "../root.ts";
import { isText, show } from "./change.ts";
import type { Change, Grade } from "./change.ts";
import { placeOf } from "./place.ts";

/** A difference as `redocly diff` reports it. */
interface Difference {
  readonly path: string;
  readonly typeName: string;
  readonly kind: "added" | "removed" | "modified";
  readonly impact: "major" | "minor" | "patch";
  /** The reasons why it is more than a patch. */
  readonly verdicts: readonly {
    readonly ruleId: string;
    readonly message: string;
    readonly location: { readonly pointer: string };
  }[];
  /** The keyword, if one was modified. */
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
/** Recognises differences that `judge-words.ts` judges: those outside of OpenAPI, of which Redocly misses some. */
const isWord = ({ typeName, property }: Difference): boolean =>
  typeName === "SpecExtension" || property?.startsWith("x-") === true;

/** Returns Redocly's verdict, except where this contract makes other promises. */
function gradeOf(difference: Difference, released: unknown): Grade {
  const { typeName, kind, impact, property } = difference;
  if (property === undefined ? isOnlyForReaders(typeName) : isText(property)) return "editorial";
  if (mayGrow(difference, released)) return "additive";
  if (impact === "major") return "breaking";
  // Redocly considers this harmless in a request, but a member that was understood would now be ignored.
  return kind === "removed" ? "breaking" : "additive";
}

const isOnlyForReaders = (typeName: string): boolean => ["Example", "Tag", "ExternalDocs"].includes(typeName);

/** Recognises an enum in answers that a minor version may extend, because clients must accept unknown values. */
const mayGrow = ({ verdicts }: Difference, released: unknown): boolean =>
  verdicts.length > 0 &&
  verdicts.every(
    ({ ruleId, location: { pointer } }) =>
      ruleId === "enum-values-added" && valueAt(released, pointer.replace(/enum$/, "x-may-grow")) === true,
  );

/** Resolves a JSON Pointer. */
function valueAt(document: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1);
  const decode = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");
  const inside = (node: unknown, step: string): unknown =>
    isRecord(node) || Array.isArray(node) ? Reflect.get(node, decode(step)) : undefined;
  return steps.reduce(inside, document);
}

function describe({ kind, verdicts, property, base, revision }: Difference): string {
  if (verdicts.length > 0) return verdicts.map(({ message }) => message).join(" ");
  if (kind !== "modified" || property === undefined) return `is ${kind}`;
  if (isText(property)) return `${property} has other words`;
  return `${property} is ${show(revision?.value)}, was ${show(base?.value)}`;
}
