import clausesJson from "@parley/contract/clauses.json" with { type: "json" };
import bundle from "@parley/contract/contract.json" with { type: "json" };
import type { CatalogEntry, Document, JsonObject, UnsupportedMember } from "@parley/contract/document";
import type { Streams } from "@parley/contract/stream-words";
import { compile } from "@parley/contract/validator";
import type { Judge } from "@parley/contract/validator";

export const levels = [
  "core",
  "stream",
  "sampling",
  "tools",
  "structured",
  "logprobs",
  "limits",
  "ops",
  "account",
  "idempotency",
] as const;
export type Level = (typeof levels)[number];

/** Abilities of the model behind a service. Some clauses can be judged only with such a model. */
export const capabilities = ["greedy", "guided", "scripted"] as const;
export type Capability = (typeof capabilities)[number];

/** A sentence of the contract that an implementation is judged by. */
export interface Clause {
  readonly id: string;
  readonly keyword: "MUST" | "SHOULD";
  readonly level: Level;
  readonly sentence: string;
  /** The reason why the clause matters to a caller. */
  readonly why: string;
  /** Advice to an implementer. */
  readonly comply: string;
  readonly pointer: string;
  readonly since: string;
  readonly model: "any" | Capability;
  readonly faults: readonly string[];
  /** Present if ordinary OpenAI-compatible servers are judged by the clause: the SDK that breaks without it, and how. */
  readonly openai?: string;
}

// `generated/` is a copy of the contract, on purpose: the package is published separately and imports neither server nor
// client, so it does not share their mistakes.

// openapi/clauses.test.ts holds the registry to this shape.
export const clauses = clausesJson as unknown as readonly Clause[];
export const clauseOf: ReadonlyMap<string, Clause> = new Map(clauses.map((clause) => [clause.id, clause]));

// The generated bundle is the contract; its own tests hold it to this shape.
export const document = bundle as unknown as Document & {
  readonly info: { readonly version: string; readonly description: string };
};
export const contractVersion = document.info.version;
export const catalog: Readonly<Record<string, CatalogEntry>> = document["x-error-catalog"];
export const edgeStatuses: Readonly<Record<string, { readonly code: string }>> = document["x-edge-statuses"];
export const streams = document["x-streams"] as unknown as Streams;

/** A number of `x-limits`. */
export const limit = (name: string): number => {
  const found = document["x-limits"][name];
  if (!found) throw new Error(`the contract has no limit ${name}`);
  return found.value;
};

/** Members of other services that have to be refused. */
export const unsupportedMembers = bundle.components.schemas.ChatCompletionRequest[
  "x-unsupported-members"
] as readonly UnsupportedMember[];

const engineMembers: ReadonlySet<string> = new Set(document["x-engine-members"]);

/** The path of the first member that engines are known to add on their own. */
export function engineMemberIn(value: unknown, path = ""): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = engineMembers.has(name) ? `${path}/${name}` : engineMemberIn(inner, `${path}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

let open: ((schema: JsonObject) => Judge) | undefined;
const judges = new Map<string, Judge>();

/** Violations of a schema of the contract. Members that the schema does not name are allowed. */
export function faultsOf(schema: string, value: unknown): string[] {
  open ??= compile(document);
  const judge = judges.get(schema) ?? open({ $ref: `#/components/schemas/${schema}` });
  judges.set(schema, judge);
  return judge(value);
}
