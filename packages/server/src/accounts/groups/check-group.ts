import type { UsageLedger } from "../ledger/usage-ledger.ts";
import { raiseAt, raisedUsd } from "../money/budget-raise.ts";
import { spanOf } from "../money/budgets.ts";
import { formatIn, isTimeZone, periods } from "../money/period.ts";
import { isAtLeastUsd } from "../money/price.ts";
import { GroupError } from "./group-store.ts";
import type { GroupChange, StoredGroup } from "./group-store.ts";

const maxNameLength = 200;

/**
 * Checks the rules of a new or changed group.
 * @param groups all stored groups; the group itself may be among them
 * @throws {GroupError}
 */
export function assertGroupRules(group: StoredGroup, groups: readonly StoredGroup[]): void {
  assertName(group, groups);
  assertPeriod(group);
  assertParent(group, groups);
}

function assertName({ id, name }: StoredGroup, groups: readonly StoredGroup[]): void {
  if (name.trim() !== name || name === "" || name.length > maxNameLength)
    throw new GroupError(`A group's name has 1 to ${maxNameLength} characters, without blanks at its ends.`, "name");
  if (name === "none" || /^grp_[0-9a-f]{12}$/.test(name))
    throw new GroupError(
      `A group cannot be called ${name}: the word has another meaning where a group is named.`,
      "name",
    );
  if (groups.some((other) => other.name === name && other.id !== id))
    throw new GroupError(`There is already a group ${name}. Choose another name.`, "name");
}

function assertPeriod({ period, timeZone }: StoredGroup): void {
  if (period !== undefined && !periods.includes(period))
    throw new GroupError(`A period is one of ${periods.join(", ")}.`, "period");
  if (period !== undefined && timeZone === undefined)
    throw new GroupError(
      `A budget for each ${period} needs a time zone, which says when the ${period} begins: name one such as Europe/Berlin or UTC.`,
      "timeZone",
    );
  if (period === undefined && timeZone !== undefined)
    throw new GroupError(
      "A time zone needs a period: day, week or month. A budget without a period never renews.",
      "period",
    );
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw new GroupError(
      `There is no time zone ${timeZone}. Name one of the IANA database, such as Europe/Berlin or UTC.`,
      "timeZone",
    );
}

function assertParent({ id, name, parentId }: StoredGroup, groups: readonly StoredGroup[]): void {
  if (parentId === undefined) return;
  if (parentId === id) throw new GroupError(`The group ${name} cannot be its own parent.`, "parentId");
  const parent = groups.find((group) => group.id === parentId);
  if (!parent) throw new GroupError(`There is no group ${parentId}.`, "parentId");
  const children = groups.filter((group) => group.parentId === id);
  if (children.includes(parent))
    throw new GroupError(
      `The group ${parent.name} is already in ${name}, so ${name} cannot be in ${parent.name}: that would be a circle.`,
      "parentId",
    );
  if (parent.parentId !== undefined)
    throw new GroupError(
      `The group ${parent.name} is in another group itself, so it cannot have groups: groups nest once.`,
      "parentId",
    );
  if (children.length > 0)
    throw new GroupError(
      `The group ${name} has groups itself (${namesOf(children)}), so it cannot be in another group: groups nest once.`,
      "parentId",
    );
}

/**
 * Checks that a group can be deleted.
 * @param keys number of keys in the group
 * @throws {GroupError}
 */
export function assertUnused({ id, name }: StoredGroup, groups: readonly StoredGroup[], keys: number): void {
  const children = groups.filter(({ parentId }) => parentId === id);
  if (children.length > 0)
    throw new GroupError(`The group ${name} still has groups (${namesOf(children)}). Move or delete them first.`);
  if (keys > 0)
    throw new GroupError(
      `The group ${name} still has ${keys === 1 ? "1 key" : `${keys} keys`}. Move them to another group or delete them first.`,
    );
}

const namesOf = (groups: readonly StoredGroup[]): string => groups.map(({ name }) => name).join(", ");

/**
 * Checks that a change leaves the budget of a group above the amount that it has spent in the running period.
 * @throws {GroupError} if all keys of the group would be refused from then on
 */
export async function assertBudgetLeft(
  ledger: Pick<UsageLedger, "groupSpentUsd">,
  group: StoredGroup,
  change: GroupChange,
  nowMs: number,
): Promise<void> {
  const { budgetUsd, budgetRaise, period, timeZone, name } = { ...group, ...change };
  const isChanged = (["budgetUsd", "period", "timeZone"] as const).some((rule) => rule in change);
  const limitUsd = raisedUsd(budgetUsd, raiseAt(budgetRaise, nowMs));
  if (!isChanged || limitUsd === undefined) return;
  const { fromMs, toMs } = spanOf({ period, timeZone }, nowMs);
  const spentUsd = await ledger.groupSpentUsd(group.id, { fromMs, toMs });
  if (!isAtLeastUsd(spentUsd, limitUsd) || spentUsd === "0") return;
  const since = timeZone === undefined ? "" : ` since ${formatIn(fromMs, timeZone)} (${timeZone})`;
  throw new GroupError(
    `The group ${name} has spent ${spentUsd} US dollars${since}, so a budget of ${limitUsd} refuses all requests of its keys.`,
    "budgetUsd",
  );
}
