import { expect, test } from "vitest";
import { toText } from "./log.ts";

const time = "2026-11-23T21:07:11.123Z";
const request = {
  level: "info",
  time,
  msg: "request",
  request_id: "req_0123456789abcdef01234567",
  method: "POST",
  path: "/v1/chat/completions",
  status: 200,
  duration_ms: 12_345,
  client: "127.0.0.1",
  key_id: "0123456789ab",
  operation: "createChatCompletion",
  model: "vendor/model-1-mini",
  is_stream: true,
  first_event_ms: 60,
  prompt_tokens: 1234,
  completion_tokens: 16_384,
  cost_usd: "0.0098304",
  outcome: "complete",
};

const longest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));

test("a request is one line of at most 120 columns", () => {
  const text = toText(JSON.stringify(request));
  expect(text).toBe(
    "21:07:11 info  POST /v1/chat/completions 200 12345ms vendor/model-1-mini 1234+16384 req_0123456789abcdef01234567\n",
  );
  expect(longest(text)).toBeLessThanOrEqual(120);
});

test("a long text is wrapped, and nothing of it is lost", () => {
  const failed = { ...request, status: 400, error_code: "context_length_exceeded", completion_tokens: undefined };
  const text = toText(JSON.stringify({ ...failed, path: `/v1/${"x".repeat(300)}` }));
  expect(longest(text)).toBeLessThanOrEqual(120);
  expect(text.replaceAll(/\s/g, "")).toContain(`/v1/${"x".repeat(300)}400`);
  expect(text).toContain("context_length_exceeded");
  const other = toText(JSON.stringify({ level: "warn", time, msg: "engine", detail: "a word ".repeat(50).trim() }));
  expect(longest(other)).toBeLessThanOrEqual(120);
  expect(other).toMatch(/^21:07:11 warn {2}engine detail=a word/);
});

test("the last output of an engine follows unchanged", () => {
  const line = { level: "warn", time, msg: "engine", state: "crashed", last_words: "Error: no\n    at here\n\nno" };
  expect(toText(JSON.stringify(line))).toBe("21:07:11 warn  engine state=crashed\nError: no\n    at here\n\nno\n");
});

test("an error is followed by its stack", () => {
  const line = { level: "error", time, msg: "it broke", err: { message: "no", stack: "Error: no\n    at here" } };
  expect(toText(JSON.stringify(line))).toBe("21:07:11 error it broke\nError: no\n    at here\n");
});
