import admin from "@parley/contract/admin.json" with { type: "json" };
import type { Scope } from "../admin-keys/admin-key-store.ts";
import { GroupError } from "../groups/group-store.ts";
import { assertScope, toAuditActor } from "./actor.ts";
import type { Actor } from "./actor.ts";
import { adminKeyVerbs } from "./admin-key-verbs.ts";
import { auditVerbs } from "./audit-verbs.ts";
import { groupVerbs } from "./group-verbs.ts";
import { keyVerbs } from "./key-verbs.ts";
import { ManageError, toManageError } from "./manage-error.ts";
import { LostAnswerError } from "./managed-state.ts";
import type { ManagedState } from "./managed-state.ts";
import type { RefusedAttempts } from "./refused-attempts.ts";
import { usageVerbs } from "./usage-verbs.ts";
import type { Answer, ChangeVerb, Input, Operation, Verb, VerbContext } from "./verb.ts";
import type { ResolveModel } from "./wire.ts";

/** The verbs of the admin API. An operation of the contract without a verb does not compile. */
const verbs: { readonly [Op in Operation]: Verb<Op> } = {
  ...keyVerbs,
  ...groupVerbs,
  ...adminKeyVerbs,
  ...usageVerbs,
  ...auditVerbs,
};

/** An operation of the contract. */
export interface Route {
  readonly operation: Operation | "exportAudit";
  readonly method: string;
  /** With `{id}` for the id. */
  readonly path: string;
  /** The scope that it needs; undefined: none. */
  readonly scope: Scope | undefined;
}

/** All operations of the contract. */
export const routes: readonly Route[] = Object.entries(admin.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    operation: operation.operationId as Route["operation"], // the types are generated from the same document
    method: method.toUpperCase(),
    path,
    scope: ("x-scope" in operation ? operation["x-scope"] : undefined) as Scope | undefined,
  })),
);

/** The dependencies of the verbs. */
export interface ManageDeps {
  readonly state: ManagedState;
  readonly refused: Pick<RefusedAttempts, "note">;
  readonly resolveModel: ResolveModel;
  readonly nowMs: () => number;
}

/** Performs verbs for one actor, in this process or over HTTP. */
export type Perform = <Op extends Operation>(operation: Op, input: Input<Op>) => Promise<Answer<Op>>;

/**
 * Returns a function that performs verbs: it checks the scope, makes the change and its record in one transaction, and records
 * a refused attempt.
 */
export const performFor =
  (deps: ManageDeps, actor: Actor): Perform =>
  async (operation, input) => {
    const nowMs = deps.nowMs();
    const context: VerbContext = { state: deps.state, actor, resolveModel: deps.resolveModel, nowMs };
    const verb: Verb<typeof operation> = verbs[operation];
    try {
      assertScope(actor, routes.find((route) => route.operation === operation)?.scope);
      if ("read" in verb) return await verb.read(context, input);
      return await change(context, operation, verb, input);
    } catch (error) {
      const refusal = error instanceof GroupError ? toManageError(error) : error;
      const isRecorded = refusal instanceof ManageError && (!("read" in verb) || refusal.code === "missing_scope");
      if (isRecorded) await noteRefusal(deps, context, operation, input, refusal);
      throw refusal;
    }
  };

async function change<Op extends Operation>(
  context: VerbContext,
  operation: Op,
  verb: ChangeVerb<Op, never, never>,
  input: Input<Op>,
): Promise<Answer<Op>> {
  const checked = await verb.check?.(context, input);
  const { state, actor, nowMs } = context;
  const result = await state.transact(async (stores) => {
    const {
      result: made,
      target,
      before,
      after,
      prunesBeforeMs,
      finish,
    } = await verb.change({ ...context, stores }, input, checked as never); // of the same verb
    const record = {
      atMs: nowMs,
      actor: toAuditActor(actor),
      from: actor.from,
      action: operation,
      target,
      before,
      after,
    };
    await stores.audit.append({ ...record, outcome: "done", attempts: 1 }, prunesBeforeMs);
    await finish?.();
    return made;
  });
  return verb.show(context, result).catch((cause: unknown) => {
    if (cause instanceof LostAnswerError) throw cause;
    const message = "The change was made and recorded, but the database was lost before its result could be read.";
    throw new LostAnswerError(message, { cause });
  });
}

async function noteRefusal<Op extends Operation>(
  { refused }: ManageDeps,
  { actor, nowMs }: VerbContext,
  action: Op,
  { id, body }: Input<Op>,
  { message }: ManageError,
): Promise<void> {
  const { name, group_id: groupId } = (body ?? {}) as { readonly name?: unknown; readonly group_id?: unknown }; // a body may have them
  await refused.note({
    atMs: nowMs,
    actor: toAuditActor(actor),
    from: actor.from,
    action,
    target: {
      id,
      name: typeof name === "string" ? name : undefined,
      groupId: typeof groupId === "string" ? groupId : actor.key?.groupId,
    },
    outcome: "refused",
    reason: message,
    attempts: 1,
  });
}
