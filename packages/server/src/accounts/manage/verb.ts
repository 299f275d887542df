import type { operations } from "@parley/contract/admin-types";
import type { AuditRecord } from "../audit/audit-log.ts";
import type { Actor } from "./actor.ts";
import { ManageError } from "./manage-error.ts";
import type { ChangeStores, ManagedState } from "./managed-state.ts";
import type { ResolveModel } from "./wire.ts";

/** The operations of the admin API that are verbs. An export is a repeated `listAudit`. */
export type Operation = Exclude<keyof operations, "exportAudit">;

type BodyOf<T> = T extends { requestBody: { content: { "application/json": infer Body } } } ? Body : undefined;
type QueryOf<T> = T extends { parameters: { query?: infer Query } }
  ? [NonNullable<Query>] extends [never]
    ? object
    : Partial<NonNullable<Query>>
  : object;
type PathOf<T> = T extends { parameters: { path: { id: string } } } ? string : undefined;
type AnswerIn<T> = T extends { content: { "application/json": infer Body } } ? Body : undefined;
type AnswerOf<T> = T extends { responses: infer Statuses }
  ? { [Status in keyof Statuses & (200 | 201 | 204)]: AnswerIn<Statuses[Status]> }[keyof Statuses & (200 | 201 | 204)]
  : never;

/** The input of a verb: the id in its path, its query and its body, which satisfy the contract. */
export interface Input<Op extends Operation> {
  readonly id: PathOf<operations[Op]>;
  readonly query: QueryOf<operations[Op]>;
  readonly body: BodyOf<operations[Op]>;
}
export type Answer<Op extends Operation> = AnswerOf<operations[Op]>;

export interface VerbContext {
  readonly state: ManagedState;
  readonly actor: Actor;
  readonly resolveModel: ResolveModel;
  readonly nowMs: number;
}

/** A verb that changes nothing, and is not recorded. */
export interface ReadVerb<Op extends Operation> {
  readonly read: (context: VerbContext, input: Input<Op>) => Promise<Answer<Op>>;
}

/** The result of a change. Its audit record is not written yet, and belongs to the same transaction. */
export interface Done<Result> extends Pick<AuditRecord, "target" | "before" | "after"> {
  readonly result: Result;
  /** Set by a pruning of the audit log: entries before this time are removed. */
  readonly prunesBeforeMs?: number;
  /** Runs in the transaction, after the record. */
  readonly finish?: () => Promise<void>;
}

/** A verb that changes something. `change` and the audit record are one transaction. `show` runs after it. */
export interface ChangeVerb<Op extends Operation, Result = unknown, Checked = void> {
  /** Checks that need more than the stores of the transaction. `change` gets the result. */
  readonly check?: (context: VerbContext, input: Input<Op>) => Promise<Checked>;
  readonly change: (
    context: VerbContext & { readonly stores: ChangeStores },
    input: Input<Op>,
    checked: Checked,
  ) => Promise<Done<Result>>;
  readonly show: (context: VerbContext, result: Result) => Promise<Answer<Op>>;
}

export type Verb<Op extends Operation> = ReadVerb<Op> | ChangeVerb<Op, never, never>;

/** Names the types of a change. */
export const changing = <Op extends Operation, Result, Checked = void>(
  verb: ChangeVerb<Op, Result, Checked>,
): Verb<Op> =>
  // `show` only gets what `change` has returned, and `change` what `check` has.
  verb as unknown as Verb<Op>;

/** The default number of entries in a page. */
const pageLength = 100;

/**
 * Returns the page after an entry. Entries are sorted by their creation, then by id.
 * @param after the creation and id of the last entry of the page before
 * @throws {ManageError} `invalid_value` if `after` is not from a page
 */
export function pageOf<T extends { readonly id: string; readonly createdMs: number }>(
  all: readonly T[],
  { limit, after }: { readonly limit?: number | undefined; readonly after?: string | undefined },
): { readonly entries: readonly T[]; readonly next: string | null } {
  const [, createdMs, id = ""] = /^(\d{1,15})\.(\w+)$/.exec(after ?? "") ?? [];
  if (after !== undefined && createdMs === undefined)
    throw new ManageError("invalid_value", "after must be the `next` of a page.", "after");
  const isLater = (one: T): boolean =>
    one.createdMs > Number(createdMs) || (one.createdMs === Number(createdMs) && one.id > id);
  const rest = createdMs === undefined ? all : all.filter(isLater);
  const entries = rest.slice(0, limit ?? pageLength);
  const last = entries.at(-1);
  return { entries, next: last && rest.length > entries.length ? `${last.createdMs}.${last.id}` : null };
}
