import type { RequestHandler } from "express";
import contract from "../generated/contract.json" with { type: "json" };
import { ApiError } from "../errors/api-error.ts";
import { HangUp } from "../errors/hang-up.ts";
import { attachContext, newRequestId } from "./request-context.ts";

const clientIdPattern = new RegExp(`^[ -~]{1,${contract["x-limits"].clientRequestIdCharacters.value}}$`);

/** Of a path in the log and the metrics; a caller can write a much longer one. */
export const maxPathLength = 256;

/**
 * The first stage: names the request and starts its time-out. One signal aborts when the caller hangs up, when the
 * request times out, when its key is disabled, or when the server shuts down. Every later stage listens to it.
 */
export function openRequest(requestTimeoutMs: number, shutdown: AbortSignal, nowMs: () => number): RequestHandler {
  return function openRequest(req, res, next) {
    const id = newRequestId();
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(timeoutError(requestTimeoutMs)), requestTimeoutMs);
    const onShutdown = (): void => controller.abort(shutdown.reason);
    shutdown.addEventListener("abort", onShutdown);
    res.on("close", () => {
      clearTimeout(timer);
      shutdown.removeEventListener("abort", onShutdown);
      if (!res.writableFinished) controller.abort(new HangUp());
    });
    const [path = ""] = req.originalUrl.split("?", 1);
    const record = {
      id,
      method: req.method,
      path: path.slice(0, maxPathLength),
      client: req.ip ?? "",
      startedAtMs: nowMs(),
    };
    const end = (reason: ApiError): void => controller.abort(reason);
    attachContext(res, { id, signal: controller.signal, end, record, work: Promise.resolve() });
    res.setHeader("x-request-id", id);
    const clientId = req.get("x-client-request-id");
    if (clientId !== undefined && clientIdPattern.test(clientId)) res.setHeader("x-client-request-id", clientId);
    next();
  };
}

const timeoutError = (timeoutMs: number): ApiError =>
  new ApiError(
    "timeout",
    `The request was not finished within ${timeoutMs / 1000} seconds. Ask for fewer tokens, or try again later.`,
  );
