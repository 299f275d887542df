import type { RequestHandler } from "express";
import contract from "../generated/contract.json" with { type: "json" };

const { preflightCacheSeconds } = contract["x-limits"];

const exposed = [
  "x-request-id",
  "x-client-request-id",
  "x-ratelimit-limit-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-ignored-params",
].join(", ");

/** Lets browsers in: answers preflights, before any key is asked for, and names the headers that scripts may read. */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const allowsAll = origins.includes("*");
  return function allowOrigins(req, res, next) {
    const origin = req.get("origin");
    if (!allowsAll) res.vary("Origin");
    if (origin === undefined || !(allowsAll || origins.includes(origin))) return next();
    res.setHeader("access-control-allow-origin", allowsAll ? "*" : origin);
    res.setHeader("access-control-expose-headers", exposed);
    const isPreflight = req.method === "OPTIONS" && req.get("access-control-request-method") !== undefined;
    if (!isPreflight) return next();
    res.setHeader("access-control-allow-methods", "GET, POST");
    res.setHeader(
      "access-control-allow-headers",
      req.get("access-control-request-headers") ?? "authorization, content-type",
    );
    res.setHeader("access-control-max-age", preflightCacheSeconds.value);
    res.status(204).end();
  };
}
