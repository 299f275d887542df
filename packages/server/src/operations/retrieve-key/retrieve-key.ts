import type { components } from "@parley/contract/types";
import { environmentKey } from "../../accounts/keys/find-caller.ts";
import type { KeyStore } from "../../accounts/keys/key-store.ts";
import type { UsageLedger } from "../../accounts/ledger/usage-ledger.ts";
import type { LimitState } from "../../accounts/limits/limit-store.ts";
import type { Limits } from "../../accounts/limits/limits.ts";
import { budgetsAt, readSpentUsd, toKeyBudget } from "../../accounts/money/budget-state.ts";
import { modelsFor } from "../../models/pick-engine.ts";
import type { ServedModels } from "../../models/pick-engine.ts";
import type { Operation } from "../call.ts";

type KeyState = components["schemas"]["KeyState"];

export interface KeyStateDeps {
  readonly models: ServedModels;
  readonly keys: Pick<KeyStore, "find">;
  readonly ledger: Pick<UsageLedger, "spentUsd" | "groupSpentUsd">;
  readonly limits: Limits;
  /** The wall clock, in milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** Returns the limits and budgets of the caller's key. The id of the key is left out, because it is a part of its token. */
export const retrieveKey =
  ({ models, keys, ledger, limits, nowMs }: KeyStateDeps): Operation<"retrieveKey"> =>
  async ({ caller }) => {
    const [key, { requests, tokens }, budgets] = await Promise.all([
      keys.find(caller.keyId),
      limits.states(caller),
      Promise.all(
        budgetsAt(caller, nowMs()).map(async (budget) =>
          toKeyBudget(budget, await readSpentUsd(ledger, caller.keyId, budget)),
        ),
      ),
    ]);
    const rateOf = ({ limit, remaining, resetMs }: LimitState): KeyState["limits"]["requests"] => ({
      limit,
      remaining,
      resets_at: toTime(nowMs() + resetMs),
    });
    return {
      object: "key",
      label: key?.name ?? environmentKey,
      ...(key && { created_at: toTime(key.createdMs) }),
      ...(key?.expiresMs !== undefined && { expires_at: toTime(key.expiresMs) }),
      models: modelsFor(models, caller).map(({ id }) => id),
      limits: {
        requests: rateOf(requests),
        tokens: rateOf(tokens),
        ...(caller.concurrency !== undefined && { concurrency: caller.concurrency }),
      },
      budgets,
    };
  };

const toTime = (ms: number): string => new Date(ms).toISOString();
