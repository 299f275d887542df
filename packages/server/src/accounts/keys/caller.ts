import type { StoredGroup } from "../groups/group-store.ts";
import type { BudgetRaise } from "../money/budget-raise.ts";

/** A group whose budget the requests of a caller use. `budgetUsd` includes `budgetRaise`, which is absent if it has ended. */
export type CallerGroup = Pick<StoredGroup, "id" | "name" | "budgetUsd" | "budgetRaise" | "period" | "timeZone">;

/** The sender of a request, identified by its key. Authentication creates it, and all later steps use it. */
export interface Caller {
  readonly keyId: string;
  /** Model ids; undefined: all. */
  readonly models: ReadonlySet<string> | undefined;
  /** Per minute; undefined: the default of the server. */
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
  /** Concurrent requests; undefined: no limit. */
  readonly concurrency: number | undefined;
  /**
   * Its share of a busy model. While two keys always have waiting requests, a key of weight 2 gets twice as many tokens as
   * one of weight 1.
   */
  readonly weight: number;
  /** US dollars in all with the raise, a decimal string; undefined: no budget. */
  readonly budgetUsd: string | undefined;
  /** US dollars in each calendar month of UTC, with the raise. */
  readonly monthlyBudgetUsd: string | undefined;
  /** The raise of both budgets at the time of the request; undefined: there is none, or it has ended. */
  readonly budgetRaise: BudgetRaise | undefined;
  /** The group of its key, then that group's parent. */
  readonly groups: readonly CallerGroup[];
}
