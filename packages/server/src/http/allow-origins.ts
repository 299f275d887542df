import contract from "@parley/contract/contract.json" with { type: "json" };
import type { Exchange } from "./exchange.ts";

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

/**
 * Sets the CORS headers that let browser scripts call the API, and answers preflights. It runs before authentication.
 * @param origins the allowed origins, or `*` for all
 * @returns true if the request was a preflight, which is then answered
 */
export function allowOrigins(origins: readonly string[], exchange: Exchange): boolean {
  const { req, res } = exchange;
  const allowsAll = origins.includes("*");
  const origin = exchange.header("origin");
  if (!allowsAll) res.setHeader("Vary", "Origin");
  if (origin === undefined || !(allowsAll || origins.includes(origin))) return false;
  res.setHeader("access-control-allow-origin", allowsAll ? "*" : origin);
  res.setHeader("access-control-expose-headers", exposed);
  const isPreflight = req.method === "OPTIONS" && exchange.header("access-control-request-method") !== undefined;
  if (!isPreflight) return false;
  const asked = exchange.header("access-control-request-headers") ?? "authorization, content-type";
  res.setHeader("access-control-allow-methods", "GET, POST");
  res.setHeader("access-control-allow-headers", asked);
  res.setHeader("access-control-max-age", preflightCacheSeconds.value);
  res.statusCode = 204;
  res.end();
  return true;
}
