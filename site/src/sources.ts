import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Json, JsonObject } from "@parley/contract/document";
import type { Document } from "@parley/contract/document";
import { offeredFiles } from "../../generate/offered/offered-files.ts";

/** Everything in the tree that pages are made of is read here, and nowhere else. */

export const root = fileURLToPath(new URL("../..", import.meta.url));

export type { Json, JsonObject };

/** A numbered sentence of the contract. */
export interface Clause {
  readonly id: string;
  readonly keyword: "MUST" | "SHOULD";
  readonly level: string;
  readonly sentence: string;
  readonly why: string;
  readonly comply: string;
  readonly pointer: string;
  readonly since: string;
  readonly model: "any" | "greedy" | "guided" | "scripted";
  readonly faults: readonly string[];
}

/** How the conformance suite judges a clause: sentences, or the reason why it does not, and a command to try. */
export interface ClauseCheck {
  readonly how: readonly string[];
  readonly unchecked?: string;
  readonly curl?: string;
}

export interface CatalogEntry {
  readonly status: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly remedy: string;
  readonly retry: {
    readonly helps: "never" | "after-wait" | "maybe";
    readonly wait: "none" | "retry-after" | "backoff";
  };
  readonly headers: readonly string[];
  readonly param: "required" | "optional" | null;
  readonly in_stream: boolean;
}

/** A bundled document of OpenAPI, as far as the pages of a reference read it by name. */
export interface ApiDocument {
  readonly info: { readonly version: string; readonly summary: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
}

/** The bundled contract of the admin API. */
export interface AdminDocument extends ApiDocument {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly "x-error-catalog": Readonly<Record<string, Pick<CatalogEntry, "status" | "type" | "remedy">>>;
}

/** The bundled contract, as far as the pages read it by name. */
export interface Contract extends ApiDocument {
  readonly "x-error-catalog": Readonly<Record<string, CatalogEntry>>;
  readonly "x-edge-statuses": Readonly<Record<string, { readonly code: string; readonly description: string }>>;
  readonly "x-limits": Readonly<
    Record<string, { readonly value: number; readonly unit: string; readonly description: string }>
  >;
  readonly "x-streams": JsonObject;
}

export interface Sources {
  readonly contract: Contract;
  readonly admin: AdminDocument;
  readonly clauses: readonly Clause[];
  readonly checks: Readonly<Record<string, ClauseCheck>>;
  /** The text of each guide, by the name of its file without `.md`. */
  readonly guides: ReadonlyMap<string, string>;
  /** The README of the client, as partners read it. */
  readonly clientReadme: string;
  /** The differences between the contract and its last release, a line for each. */
  readonly changes: {
    readonly since: string;
    readonly breaking: readonly string[];
    readonly additive: readonly string[];
  };
  /** The changelog of the repository. */
  readonly changelog: string;
  /** The files that the server offers at its root, such as `openapi.json`. */
  readonly offered: ReadonlyMap<string, string>;
}

/** The name of the contract of the admin API at the root of a server. */
export const adminFile = "admin-openapi.json";

/** The files and folders that {@link readSources} reads: a change in one of them makes the built site stale. */
export const sourcePaths = [
  "openapi",
  "packages/contract/src/generated/admin.json",
  "packages/contract/src/generated/contract.json",
  "packages/contract/src/generated/clauses.json",
  "docs/guides",
  "generate/offered",
  "packages/client/README.md",
  "packages/partners/apps",
  "packages/partners/programs",
  "packages/partners/src",
  "CHANGELOG.md",
  "site/src",
  "pnpm-lock.yaml",
] as const;

const read = (path: string): string => readFileSync(join(root, path), "utf8");

const filesOf = (folder: string): readonly (readonly [name: string, text: string])[] =>
  readdirSync(join(root, folder)).map((name) => [name, read(`${folder}/${name}`)] as const);

export async function readSources(): Promise<Sources> {
  const parse = (path: string): unknown => JSON.parse(read(path));
  // The contract's own tests check the shapes of these generated files.
  const contract = parse("packages/contract/src/generated/contract.json") as Contract;
  const admin = parse("packages/contract/src/generated/admin.json") as AdminDocument;
  return {
    contract,
    admin,
    clauses: parse("packages/contract/src/generated/clauses.json") as readonly Clause[],
    checks: parse("site/src/generated/clause-checks.json") as Readonly<Record<string, ClauseCheck>>,
    guides: new Map(filesOf("docs/guides").map(([name, text]) => [basename(name, ".md"), text] as const)),
    clientReadme: read("packages/client/README.md").split("\n## Changing it")[0] ?? "",
    changes: parse("site/src/generated/contract-changes.json") as Sources["changes"],
    changelog: read("CHANGELOG.md"),
    offered: (await offeredFiles(contract as unknown as Document)).set(adminFile, JSON.stringify(admin, undefined, 1)),
  };
}
