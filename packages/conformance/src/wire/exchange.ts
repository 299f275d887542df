import type { HttpRequest } from "./http-request.ts";

/** A request and everything that came back, byte by byte with the time of arrival: enough to judge it again. */
export interface Exchange {
  /** The name of the step, followed by `#2`, `#3` … for its further requests. */
  readonly name: string;
  readonly request: HttpRequest;
  /** Milliseconds since the run began. */
  readonly startedMs: number;
  readonly startedAt: string;
  readonly received: readonly Received[];
  readonly end: End;
  /** When the end came, in milliseconds since the request began. */
  readonly endedMs: number;
  /** The error of the connection, where there was one. */
  readonly failure?: ConnectionFailure;
  /** Names of credentials of which a fragment came back. `received` holds them masked. */
  readonly leaks: readonly string[];
}

export interface ConnectionFailure {
  /** A code of Node or OpenSSL, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`. */
  readonly code: string;
  readonly message: string;
  /** The names of a certificate that is not for the host, such as `DNS:api.example.com`. */
  readonly names?: string;
}

export interface Received {
  /** Milliseconds since the request began. */
  readonly atMs: number;
  /** One character per byte. */
  readonly bytes: string;
}

/**
 * The end of an exchange: the answer was complete; the server closed or reset the connection; no connection could be opened; the
 * deadline or the size limit was reached; the suite disconnected, as planned; the run was ended, which says nothing about the server.
 */
export type End =
  | "complete"
  | "closed"
  | "reset"
  | "unreachable"
  | "timeout"
  | "too-large"
  | "disconnected"
  | "aborted";
