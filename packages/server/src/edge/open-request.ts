import type { IncomingMessage } from "node:http";
import contract from "../generated/contract.json" with { type: "json" };
import { ApiError } from "../errors/api-error.ts";
import { HangUp } from "../errors/hang-up.ts";
import { attachContext, newRequestId } from "./request-context.ts";
import { headerOf, pathOf } from "./stage.ts";
import type { Stage } from "./stage.ts";

const clientIdPattern = new RegExp(`^[ -~]{1,${contract["x-limits"].clientRequestIdCharacters.value}}$`);

/** Of a path in the log and the metrics; a caller can write a much longer one. */
export const maxPathLength = 256;

export interface OpenRequestDeps {
  readonly requestTimeoutMs: number;
  /** Aborts when the server will wait no longer for running requests. */
  readonly shutdown: AbortSignal;
  /** Who sent it, as the proxies that are trusted say. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly nowMs: () => number;
}

/**
 * The first stage: names the request and starts its time-out. One signal aborts when the caller hangs up, when the
 * request times out, when its key is disabled, or when the server shuts down. Every later stage listens to it.
 */
export function openRequest({ requestTimeoutMs, shutdown, addressOf, nowMs }: OpenRequestDeps): Stage {
  // One listener for all: adding one to a signal takes the longer, the more it has.
  const running = new Set<AbortController>();
  const endAll = (): void => running.forEach((controller) => controller.abort(shutdown.reason));
  shutdown.addEventListener("abort", endAll, { once: true });
  return function openRequest(req, res) {
    const id = newRequestId();
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(timeoutError(requestTimeoutMs)), requestTimeoutMs);
    running.add(controller);
    res.on("close", () => {
      clearTimeout(timer);
      running.delete(controller);
      if (!res.writableFinished) controller.abort(new HangUp());
    });
    const { method = "" } = req;
    const record = {
      id,
      method,
      path: pathOf(req).slice(0, maxPathLength),
      client: addressOf(req),
      startedAtMs: nowMs(),
    };
    const end = (reason: ApiError): void => controller.abort(reason);
    attachContext(res, { id, signal: controller.signal, end, record, work: Promise.resolve() });
    res.setHeader("x-request-id", id);
    const clientId = headerOf(req, "x-client-request-id");
    if (clientId !== undefined && clientIdPattern.test(clientId)) res.setHeader("x-client-request-id", clientId);
  };
}

const timeoutError = (timeoutMs: number): ApiError =>
  new ApiError(
    "timeout",
    `The request was not finished within ${timeoutMs / 1000} seconds. Ask for fewer tokens, or try again later.`,
  );
