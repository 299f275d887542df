import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findNodeAtLocation, parseTree } from "jsonc-parser";
import type { Node } from "jsonc-parser";
import type { Schema } from "../../src/dialect/raw-schema.ts";
import { GrammarWalk, acceptsInSomeOrder, readGbnf } from "../../testing/index.ts";
import { compileSchema } from "../../src/index.ts";

/** The drafts of the official test suite, and how `$schema` names them. */
export const drafts = {
  draft4: "http://json-schema.org/draft-04/schema#",
  draft6: "http://json-schema.org/draft-06/schema#",
  draft7: "http://json-schema.org/draft-07/schema#",
  "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
  "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
} as const;
export type Draft = keyof typeof drafts;

interface Group {
  readonly description: string;
  readonly schema: boolean | Readonly<Record<string, unknown>>;
  readonly tests: readonly { readonly description: string; readonly valid: boolean }[];
}

/** The outcome of one draft of the suite. Groups and instances are named by `file: group` and `file: group: instance`. */
export interface SuiteOutcome {
  readonly groups: number;
  readonly refused: readonly string[];
  readonly validRejected: readonly string[];
  readonly invalidAccepted: readonly string[];
}

export function judgeDraft(draft: Draft): SuiteOutcome {
  const groups = readDraft(draft);
  const findings = groups.flatMap(judgeGroup);
  const linesOf = (kind: Finding["kind"]): string[] =>
    findings.filter((one) => one.kind === kind).map(({ line }) => line);
  return {
    groups: groups.length,
    refused: linesOf("refused"),
    validRejected: linesOf("valid rejected"),
    invalidAccepted: linesOf("invalid accepted"),
  };
}

export interface SuiteGroup {
  /** `file: group` */
  readonly name: string;
  readonly schema: Schema;
  readonly instances: readonly SuiteInstance[];
}

interface SuiteInstance {
  readonly description: string;
  readonly isValid: boolean;
  readonly node: Node;
  /** The text that the node was read from. */
  readonly source: string;
}

export function readDraft(draft: Draft): SuiteGroup[] {
  const source = readFileSync(join(import.meta.dirname, `${draft}.json`), "utf8");
  const files = JSON.parse(source) as Readonly<Record<string, readonly Group[]>>; // the suite's own form
  const tree = parseTree(source);
  return Object.entries(files).flatMap(([file, groups]) =>
    groups.map(({ description, schema, tests }, place) => ({
      name: `${file}: ${description}`,
      // The older drafts' tests do not name their draft.
      schema: typeof schema === "object" ? { $schema: drafts[draft], ...schema } : schema,
      instances: tests.flatMap((test, index) => {
        const node = tree && findNodeAtLocation(tree, [file, place, "tests", index, "data"]);
        return node ? [{ description: test.description, isValid: test.valid, node, source }] : [];
      }),
    })),
  );
}

interface Finding {
  readonly kind: "refused" | "valid rejected" | "invalid accepted";
  readonly line: string;
}

function judgeGroup({ name, schema, instances }: SuiteGroup): Finding[] {
  const compiled = compileSchema(schema);
  if ("fault" in compiled) return [{ kind: "refused", line: `${name}: ${compiled.fault.reason}` }];
  const walk = new GrammarWalk(readGbnf(compiled.grammar));
  return instances.flatMap(({ description, isValid, node, source }) => {
    if (acceptsInSomeOrder(walk, node, source) === isValid) return [];
    return [{ kind: isValid ? "valid rejected" : "invalid accepted", line: `${name}: ${description}` }];
  });
}
