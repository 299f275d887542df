import type { components } from "@parley/contract/admin-types";
import type { GroupError } from "../groups/group-store.ts";

export type ManageCode = components["schemas"]["ErrorCode"];

/** A verb that was refused: nothing has changed. The message is for the operator or the portal. */
export class ManageError extends Error {
  override readonly name = "ManageError";
  readonly code: ManageCode;
  /** The member or parameter at fault. */
  readonly param: string | null;

  constructor(code: ManageCode, message: string, param: string | null = null) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

const wireNames: Readonly<Record<NonNullable<GroupError["rule"]>, string>> = {
  name: "name",
  parentId: "parent_id",
  budgetUsd: "budget_usd",
  budgetRaise: "budget_raise",
  period: "period",
  timeZone: "time_zone",
  maxKeys: "max_keys",
  keyCeiling: "key_ceiling",
  groupId: "group_id",
};

/** Returns the refusal of a store as that of a verb. Rules that contradict other groups are a conflict. */
export function toManageError({ message, rule }: GroupError): ManageError {
  const isConflict = rule === undefined || rule === "parentId" || /^There is already| has spent /.test(message);
  return new ManageError(
    isConflict ? "conflict" : "invalid_value",
    message,
    rule === undefined ? null : wireNames[rule],
  );
}
