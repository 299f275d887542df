/** The limits of a key; absent: it has no such limit. */
export interface KeyRules {
  readonly state?: "expired" | "disabled";
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrency?: number;
  readonly isSpent?: boolean;
  /** Its budget is raised, and does not pay for a request. */
  readonly isRaised?: boolean;
  readonly models?: readonly string[];
}

/** An amount that refills evenly within a minute. */
export class Bucket {
  readonly limit: number;
  #left: number;
  #atMs = Date.now();

  constructor(limit: number) {
    this.limit = limit;
    this.#left = limit;
  }

  get left(): number {
    const now = Date.now();
    this.#left = Math.min(this.limit, this.#left + ((now - this.#atMs) / 60_000) * this.limit);
    this.#atMs = now;
    return this.#left;
  }

  take(amount: number): void {
    this.#left = this.left - amount;
  }

  /** Milliseconds until this amount is available. */
  waitFor(amount: number): number {
    return Math.max(1, Math.ceil(((amount - this.left) / this.limit) * 60_000));
  }
}

/** A key while the server runs. */
export interface Key {
  readonly rules: KeyRules;
  readonly requests: Bucket;
  readonly tokens: Bucket;
  running: number;
}

export const makeKey = (rules: KeyRules): Key => ({
  rules,
  requests: new Bucket(rules.requestsPerMinute ?? 10_000),
  tokens: new Bucket(rules.tokensPerMinute ?? 10_000_000),
  running: 0,
});

const seconds = (bucket: Bucket): string => `${Math.ceil(bucket.waitFor(bucket.limit) / 1000)}s`;

export const limitHeaders = ({ requests, tokens }: Key): Record<string, string> => ({
  "x-ratelimit-limit-requests": String(requests.limit),
  "x-ratelimit-remaining-requests": String(Math.max(0, Math.floor(requests.left))),
  "x-ratelimit-reset-requests": requests.left >= requests.limit ? "0s" : seconds(requests),
  "x-ratelimit-limit-tokens": String(tokens.limit),
  "x-ratelimit-remaining-tokens": String(Math.max(0, Math.floor(tokens.left))),
  "x-ratelimit-reset-tokens": tokens.left >= tokens.limit ? "0s" : seconds(tokens),
});
