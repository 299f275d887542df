import contract from "../generated/contract.json" with { type: "json" };
import { headerOf } from "./stage.ts";
import type { Stage } from "./stage.ts";

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
export function allowOrigins(origins: readonly string[]): Stage {
  const allowsAll = origins.includes("*");
  return function allowOrigins(req, res) {
    const origin = headerOf(req, "origin");
    if (!allowsAll) res.setHeader("Vary", "Origin");
    if (origin === undefined || !(allowsAll || origins.includes(origin))) return;
    res.setHeader("access-control-allow-origin", allowsAll ? "*" : origin);
    res.setHeader("access-control-expose-headers", exposed);
    const isPreflight = req.method === "OPTIONS" && headerOf(req, "access-control-request-method") !== undefined;
    if (!isPreflight) return;
    res.setHeader("access-control-allow-methods", "GET, POST");
    res.setHeader(
      "access-control-allow-headers",
      headerOf(req, "access-control-request-headers") ?? "authorization, content-type",
    );
    res.setHeader("access-control-max-age", preflightCacheSeconds.value);
    res.statusCode = 204;
    res.end();
  };
}
