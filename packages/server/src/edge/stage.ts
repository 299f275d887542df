import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * One step of the path of a request, on what Node itself gives. It lets the request go on by returning, ends it by writing
 * an answer, or throws what becomes the answer.
 */
export type Stage = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** The last step of a request that a stage has ended by throwing. It never throws. */
export type FailureStage = (thrown: unknown, request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The stages of every request, in two parts: what is served beside the contract, without a key, comes between them. */
export interface Stages {
  readonly ofEveryRequest: readonly Stage[];
  readonly ofContract: readonly Stage[];
  readonly fail: FailureStage;
}

/** Whether no further stage has anything to do: the answer is there, or nobody waits for it. */
export const isOver = (response: ServerResponse): boolean => response.headersSent || response.destroyed;

/** The value of a header, undefined where it is absent. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** The path of a request as it is written, without its query. */
export function pathOf({ url = "" }: IncomingMessage): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}
