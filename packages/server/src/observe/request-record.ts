/** The operation of `/health` and `/ready`, which are outside the contract. */
export const probeOperation = "probe";

/** The fields of one request for the access log and the metrics. Never a prompt, an answer or a key. */
export interface RequestRecord {
  readonly id: string;
  readonly method: string;
  /** Without the query string, which could contain a secret. At most 256 characters. */
  readonly path: string;
  readonly client: string;
  /** Start of the request on the server's monotonic clock. */
  readonly startedAtMs: number;
  keyId?: string;
  /** The operation of the contract, or `probeOperation`. */
  operation?: string;
  model?: string;
  isStream?: boolean;
  /** Milliseconds from the arrival of the request to the engine's first event. */
  firstEventMs?: number;
  /** Number of choices of an admitted request. */
  choices?: number;
  promptTokens?: number;
  /** Prompt tokens that the engine had in its cache. */
  cachedTokens?: number;
  completionTokens?: number;
  /** Completion tokens of reasoning. */
  reasoningTokens?: number;
  costUsd?: string;
  /** The code of the error that ended the request, in the answer or in the stream. */
  errorCode?: string;
  /** The fault of a signed token that was refused. */
  tokenFault?: string;
  /** The bound that refused the request, for the metrics. */
  refusedBy?: string;
  /** The weight of the key. */
  weight?: number;
  /** The time on the monotonic clock at which the request asked for its slots. */
  queuedAtMs?: number;
  /** Milliseconds for which the request waited for its slots. */
  queueWaitMs?: number;
  /** The time on the monotonic clock at which the engine was done with an admitted request. */
  engineEndedAtMs?: number;
  /** The outcome of an admitted request. */
  outcome?: string;
}

/** Returns the mean number of completion tokens of a choice after its first one; negative if there is none. */
export const furtherTokens = ({ completionTokens = 0, choices = 1 }: RequestRecord): number =>
  completionTokens / choices - 1;
