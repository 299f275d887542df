import type { ServerResponse } from "node:http";
import { escapeLineEnds } from "./escape-line-ends.ts";

/** Answers with a value as JSON, in one write. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(escapeLineEnds(JSON.stringify(value)));
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.setHeader("Content-Length", body.length);
  response.end(body);
}
