/** What the access log and the metrics say of one request. Never a prompt, an answer or a key. */
export interface RequestRecord {
  readonly id: string;
  readonly method: string;
  /** Without the query string: it might hold what it should not. At most 256 characters. */
  readonly path: string;
  readonly client: string;
  /** On the server's monotonic clock. */
  readonly startedAtMs: number;
  keyId?: string;
  operation?: string;
  model?: string;
  isStream?: boolean;
  /** Milliseconds from the arrival of the request to the engine's first event. */
  firstEventMs?: number;
  promptTokens?: number;
  completionTokens?: number;
  costUsd?: string;
  /** The code of the error that ended the request, in the answer or in the stream. */
  errorCode?: string;
  /** The bound that refused the request, for the metrics. */
  refusedBy?: string;
  /** The weight of the key, and how long the request waited for its slots, in milliseconds. */
  weight?: number;
  queueWaitMs?: number;
  /** How an admitted request ended. */
  outcome?: string;
}
