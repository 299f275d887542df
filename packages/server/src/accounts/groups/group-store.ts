import type { KeyRules } from "../keys/key-store.ts";
import type { BudgetRaise } from "../money/budget-raise.ts";
import type { Period } from "../money/period.ts";

/** The maximum of each rule that an owner of a group may give to a key of the group. An absent rule has no maximum. */
export type KeyCeiling = Pick<
  KeyRules,
  "requestsPerMinute" | "tokensPerMinute" | "concurrency" | "weight" | "budgetUsd" | "monthlyBudgetUsd" | "models"
>;

/** The operator's settings of a group of keys. `check-group.ts` says which of them go together. */
export interface GroupRules {
  /** Unique among the groups, 1 to 200 characters. */
  readonly name: string;
  /** The group that this one belongs to. Groups nest once: a group with a parent is never a parent. */
  readonly parentId?: string | undefined;
  /** US dollars of all its keys and of the groups in it, a decimal string: in each period, or ever if it has no period. */
  readonly budgetUsd?: string | undefined;
  readonly budgetRaise?: BudgetRaise | undefined;
  /** Weeks start on Monday. A period needs a time zone, and a time zone needs a period. */
  readonly period?: Period | undefined;
  /** An IANA time zone such as `Europe/Berlin`, whose midnights begin the periods. */
  readonly timeZone?: string | undefined;
  /** The maximum number of keys that its owner may make; undefined: no maximum. */
  readonly maxKeys?: number | undefined;
  readonly keyCeiling?: KeyCeiling | undefined;
}

/** A change of rules. A rule that is present replaces the old one, undefined removes it, and absent rules stay. */
export type GroupChange = Partial<GroupRules>;

export interface StoredGroup extends GroupRules {
  /** `grp_` and twelve hexadecimal digits, unique. */
  readonly id: string;
  readonly createdMs: number;
  readonly disabledMs?: number | undefined;
}

/** A change of groups that was refused: nothing has changed. The message is for the operator. */
export class GroupError extends Error {
  override readonly name = "GroupError";
  /** The rule at fault; undefined if the group as a whole cannot be changed so. */
  readonly rule: keyof GroupRules | "groupId" | undefined;

  constructor(message: string, rule?: GroupError["rule"]) {
    super(message);
    this.rule = rule;
  }
}

/**
 * Stores groups of keys. `KeyStore.find` returns a key with its group and that group's parent.
 *
 * Every method is atomic, and checks the groups as they are at that moment: of two changes at once that exclude each other,
 * one is refused. Once a change has resolved, every `find` and `list` of this process that begins later sees it, also a
 * `KeyStore.find` of a key in the group. The `KeyStore.find` of another process that shares the store sees it within a
 * second. Times are milliseconds since 1970. A method rejects when the store cannot be reached, with an error that depends on
 * the store. Then nothing has changed.
 *
 * `groupStoreContract` in `@parley/server/testing` tests all of this on any implementation.
 */
export interface GroupStore {
  find(id: string): Promise<StoredGroup | undefined>;
  /** Returns all groups, sorted by creation time, then by id. */
  list(): Promise<StoredGroup[]>;
  /** Returns the groups whose name or id is one of these texts, sorted like a listing. A text need not be a valid id. */
  findNamed(texts: readonly string[]): Promise<StoredGroup[]>;
  /** Rejects with a `GroupError` if the rules break those of `check-group.ts`, and with any error if the id exists already. */
  insert(group: StoredGroup): Promise<void>;
  /**
   * Changes the given rules. Rejects with a `GroupError` if the new rules break those of `check-group.ts`.
   * @returns whether there is such a group
   */
  update(id: string, change: GroupChange): Promise<boolean>;
  /** Disables a group. If it is disabled already, its first time stays. @returns whether there is such a group */
  disable(id: string, atMs: number): Promise<boolean>;
  /** @returns whether there is such a group */
  enable(id: string): Promise<boolean>;
  /**
   * Removes a group. Its name stays, so its usage can still be shown. Rejects with a `GroupError` while it has keys or groups.
   * @returns whether there was such a group
   */
  delete(id: string, atMs: number): Promise<boolean>;
  /** Returns the names of all groups by id, including deleted groups. */
  names(): Promise<ReadonlyMap<string, string>>;
}
