/** Who sends a request: the noun that authentication gives to every later stage. */
export interface Caller {
  readonly keyId: string;
  /** Model ids; undefined: all. */
  readonly models: ReadonlySet<string> | undefined;
  /** Per minute; undefined: the default of the server. */
  readonly requestsPerMinute: number | undefined;
  readonly tokensPerMinute: number | undefined;
  /** Requests at the same time; undefined: no limit of its own. */
  readonly concurrency: number | undefined;
  /** Its share of a busy model: of two keys that always have requests waiting, one of weight 2 is served twice as many tokens. */
  readonly weight: number;
  /** US dollars in all, a decimal string; undefined: no budget. */
  readonly budgetUsd: string | undefined;
  /** US dollars in each calendar month of UTC. */
  readonly monthlyBudgetUsd: string | undefined;
}
