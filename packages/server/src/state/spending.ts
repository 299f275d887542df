import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Big } from "big.js";
import { GroupSpending } from "./group-spending.ts";
import type { BudgetShortage, KeyBudgets } from "../accounts/ledger/usage-ledger.ts";

/** The money of a key in US dollars: spent ever, held by its open entries, and spent by month. */
interface Account {
  spent: Big;
  held: Big;
  readonly months: Map<string, Big>;
  isChanged: boolean;
}

/** The money that is left of a budget. */
interface Rest {
  readonly rest: Big;
  readonly held: Big;
  /** The group whose budget it is, or the key's budget for each month; neither: the key's total budget. */
  readonly of: Pick<BudgetShortage, "groupId" | "isMonthly">;
}

/**
 * The money of all keys in SQLite, in total and by month. A transaction reads the row of a key once and writes it once,
 * however many of the key's entries it changes. The sums are computed here, because SQLite has no decimals.
 */
export class Spending {
  readonly groups: GroupSpending;
  readonly #readKey: StatementSync;
  readonly #writeKey: StatementSync;
  readonly #readMonth: StatementSync;
  readonly #writeMonth: StatementSync;
  readonly #readKeys: StatementSync;
  readonly #readKeysOfMonth: StatementSync;
  /** The accounts that the running transaction has read. */
  readonly #accounts = new Map<string, Account>();

  constructor(database: DatabaseSync) {
    this.groups = new GroupSpending(database);
    this.#readKey = database.prepare("SELECT cost_usd, held_usd FROM spending WHERE key_id = ?");
    this.#writeKey = database.prepare(
      `INSERT INTO spending (key_id, cost_usd, held_usd) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET cost_usd = excluded.cost_usd, held_usd = excluded.held_usd`,
    );
    this.#readMonth = database.prepare("SELECT cost_usd FROM monthly_spending WHERE key_id = ? AND month = ?");
    this.#readKeys = database.prepare("SELECT key_id, cost_usd FROM spending");
    this.#readKeysOfMonth = database.prepare("SELECT key_id, cost_usd FROM monthly_spending WHERE month = ?");
    this.#writeMonth = database.prepare(
      `INSERT INTO monthly_spending (key_id, month, cost_usd) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET cost_usd = excluded.cost_usd`,
    );
  }

  /** Returns the committed cost of a key in US dollars, ever or in a month such as `2026-11`. */
  spentUsd(keyId: string, month?: string): string {
    const row = month === undefined ? this.#readKey.get(keyId) : this.#readMonth.get(keyId, month);
    return textOf(row, "cost_usd");
  }

  /** Returns the committed costs of all keys in US dollars, ever or in a month. */
  spentByKey(month?: string): ReadonlyMap<string, string> {
    const rows = month === undefined ? this.#readKeys.iterate() : this.#readKeysOfMonth.iterate(month);
    return new Map(rows.map((row) => [String(row["key_id"]), textOf(row, "cost_usd")]));
  }

  /** Returns the rests of the budgets, each with the money that is held of it, as the running transaction has them. */
  restsOf(keyId: string, { budgetUsd, monthlyBudgetUsd, groups = [] }: KeyBudgets, month: string): Rest[] {
    const account = this.#accountOf(keyId);
    const { spent, held } = account;
    const restOf = (budget: string | undefined, amounts: { spent: Big; held: Big }, of: Rest["of"]): Rest[] =>
      budget === undefined
        ? []
        : [{ rest: new Big(budget).minus(amounts.spent).minus(amounts.held), held: amounts.held, of }];
    return [
      ...restOf(budgetUsd, { spent, held }, {}),
      ...(monthlyBudgetUsd === undefined
        ? []
        : restOf(monthlyBudgetUsd, { spent: this.#spentIn(account, keyId, month), held }, { isMonthly: true })),
      ...groups.flatMap((group) =>
        restOf(group.budgetUsd, this.groups.amountsOf(group.id, group), { groupId: group.id }),
      ),
    ];
  }

  /** Holds an amount for a key; a negative one is released. */
  hold(keyId: string, amount: Big): void {
    const account = this.#accountOf(keyId);
    account.held = account.held.plus(amount);
    account.isChanged = true;
  }

  /** Adds a cost to the amounts that a key has spent, ever and in a month. */
  spend(keyId: string, month: string, costUsd: string): void {
    const account = this.#accountOf(keyId);
    account.spent = account.spent.plus(costUsd);
    account.isChanged = true;
    account.months.set(month, this.#spentIn(account, keyId, month).plus(costUsd));
  }

  /** Writes the accounts. Must be called inside the transaction, after its last change. */
  write(): void {
    this.groups.write();
    for (const [keyId, { spent, held, months, isChanged }] of this.#accounts) {
      if (!isChanged) continue;
      this.#writeKey.run(keyId, spent.toFixed(), held.toFixed());
      for (const [month, ofMonth] of months) this.#writeMonth.run(keyId, month, ofMonth.toFixed());
    }
  }

  /** Must be called after each transaction, even if it was rolled back. */
  forget(): void {
    this.groups.forget();
    this.#accounts.clear();
  }

  #accountOf(keyId: string): Account {
    const known = this.#accounts.get(keyId);
    if (known) return known;
    const row = this.#readKey.get(keyId);
    const account = {
      spent: new Big(textOf(row, "cost_usd")),
      held: new Big(textOf(row, "held_usd")),
      months: new Map<string, Big>(),
      isChanged: false,
    };
    this.#accounts.set(keyId, account);
    return account;
  }

  #spentIn({ months }: Account, keyId: string, month: string): Big {
    return months.get(month) ?? new Big(this.spentUsd(keyId, month));
  }
}

function textOf(row: Record<string, unknown> | undefined, column: string): string {
  const text = row?.[column];
  return typeof text === "string" ? text : "0";
}
