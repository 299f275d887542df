import { describe, expect, test } from "vitest";
import { play, say, testKey } from "@parley/server/testing";
import { useServer } from "./use-server.ts";

// HTTP-21: if a request has several faults, the answer reports the first one in the contract's order. Each fault below changes
// the same good request, so any two of them can be combined in one request.

interface Draft {
  path: string;
  method: string;
  headers: Record<string, string>;
  /** Rules of the key that sends the request, unless the key itself is the fault. */
  rules: Record<string, unknown>;
  members: Record<string, unknown>;
  /** Replaces the members. */
  text?: string;
}

type Fault = readonly [
  title: string,
  status: number,
  code: string,
  param: string | null,
  change: (draft: Draft) => void,
];

const set = (members: Record<string, unknown>) => (draft: Draft) => void Object.assign(draft.members, members);

const faults: readonly Fault[] = [
  ["key", 401, "invalid_api_key", null, ({ headers }) => void (headers["authorization"] = "Bearer wrong")],
  ["path", 404, "unknown_url", null, (draft) => void (draft.path = "/nothing")],
  ["method", 405, "method_not_allowed", null, (draft) => void (draft.method = "PUT")],
  ["budget", 402, "insufficient_quota", null, ({ rules }) => void (rules["budgetUsd"] = "0")],
  ["media type", 415, "unsupported_media_type", null, ({ headers }) => void (headers["content-type"] = "text/plain")],
  ["size", 413, "request_too_large", null, (draft) => void (draft.text = `"${"x".repeat(4 * 1024 * 1024)}`)],
  ["JSON", 400, "invalid_json", null, (draft) => void (draft.text ??= "{")],
  ["messages", 400, "missing_required_parameter", "messages[0].content", set({ messages: [{ role: "assistant" }] })],
  ["max_tokens", 400, "invalid_value", "max_tokens", set({ max_tokens: 0 })],
  ["temperature", 400, "invalid_type", "temperature", set({ temperature: "1" })],
  ["stop", 400, "invalid_value", "stop", set({ stop: [] })],
  ["top_logprobs", 400, "invalid_value", "top_logprobs", set({ top_logprobs: 1 })],
  ["n", 400, "invalid_value", "n", set({ n: 9 })],
  ["stream_options", 400, "invalid_value", "stream_options", set({ stream_options: {} })],
  ["tools", 400, "invalid_value", "tools", set({ tools: [] })],
  ["tool_choice", 400, "invalid_value", "tool_choice", set({ tool_choice: "any" })],
  [
    "response_format",
    400,
    "invalid_schema",
    "response_format.json_schema.schema",
    set({ response_format: formatOf("$dynamicRef") }),
  ],
  ["reasoning_effort", 400, "invalid_value", "reasoning_effort", set({ reasoning_effort: "all" })],
  ["user", 400, "invalid_type", "user", set({ user: 1 })],
  ["functions", 400, "unsupported_parameter", "functions", set({ functions: [] })],
  ["a member of another service", 400, "unsupported_parameter", "thinking", set({ thinking: { type: "enabled" } })],
  ["an unknown member", 400, "unknown_parameter", "mood", withStrict],
  ["model", 404, "model_not_found", "model", set({ model: "vendor/model-2" })],
  ["context", 400, "context_length_exceeded", "messages", set(say("x".repeat(140_000)))],
  ["a maximum that would be lowered", 400, "unknown_parameter", "max_completion_tokens", withStrictMaximum],
  ["tokens a minute", 429, "rate_limit_exceeded", null, ({ rules }) => void (rules["tokensPerMinute"] = 1)],
];

const server = useServer({ scenarios: { fail: [{ fail: "no" }], stall: [{ role: true }, { stall: true }] } });

async function send(chosen: readonly Fault[]) {
  const draft: Draft = {
    path: "/chat/completions",
    method: "POST",
    headers: {},
    rules: {},
    members: { model: "vendor/model-1", messages: [{ role: "user", content: "Hello" }] },
  };
  for (const [, , , , change] of chosen) change(draft);
  // Any request exceeds a limit of one token per minute, and a budget of 0 is spent from the beginning.
  const key = Object.keys(draft.rules).length > 0 ? await server().makeKey(draft.rules) : testKey;
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}`, ...draft.headers };
  const body = draft.text ?? JSON.stringify(draft.members);
  const response = await server().fetch(draft.path, { method: draft.method, headers, body });
  const { error } = (await response.json()) as { error: { code: string; param: string | null } };
  return [response.status, error.code, error.param];
}

describe("each fault alone", () => {
  test.each(faults)("%s", async (...fault) => {
    const [, status, code, param] = fault;
    expect(await send([fault])).toEqual([status, code, param]);
  });
});

describe("HTTP-21 AUTH-11 AUTH-12 of two faults the first is reported", () => {
  test.each(faults.map((fault, index) => [fault[0], fault, faults.slice(index + 1)] as const))(
    "%s comes before all that follow",
    async (_title, first, others) => {
      for (const other of others) {
        // Two faults of one member would replace each other, and a body that is text has no members.
        if (first[0] === "messages" && other[0] === "context") continue;
        expect([other[0], await send([first, other])]).toEqual([other[0], [first[1], first[2], first[3]]]);
        expect([other[0], await send([other, first])]).toEqual([other[0], [first[1], first[2], first[3]]]);
      }
    },
  );
});

test("HTTP-21 ERR-10 all of them at once: the key", async () => {
  expect(await send(faults)).toEqual([401, "invalid_api_key", null]);
});

test("HTTP-21 LIM-18 the limits on requests come before the body, in their order", async () => {
  const makeFaulty = async (rules: Record<string, unknown>) => {
    const headers = { authorization: `Bearer ${await server().makeKey(rules)}` };
    return { refuse: () => server().refuse({ temperature: "1" }, { headers }), headers };
  };
  const once = await makeFaulty({ requestsPerMinute: 1 });
  expect(await once.refuse()).toMatchObject({ status: 400 });
  expect(await once.refuse()).toMatchObject({ status: 429, details: { limit: "requests" } });

  const single = await makeFaulty({ concurrency: 1, requestsPerMinute: 2 });
  const stall = await server().chat({ ...play("stall"), stream: true }, { headers: single.headers });
  expect(await single.refuse()).toMatchObject({ status: 429, details: { limit: "concurrency" } });
  await stall.body?.cancel();
});

test("HTTP-21 admission comes last: an engine that will fail is not asked before the limits", async () => {
  const authorization = `Bearer ${await server().makeKey({ tokensPerMinute: 1 })}`;
  const refusal = await server().refuse(play("fail"), { headers: { authorization } });
  expect(refusal).toMatchObject({ status: 429, details: { limit: "tokens" } });
});

function withStrict({ headers, members }: Draft): void {
  headers["x-strict-params"] = "true";
  members["mood"] = 1;
}

function withStrictMaximum({ headers, members }: Draft): void {
  headers["x-strict-params"] = "true";
  members["max_completion_tokens"] = 32_000;
}

function formatOf(keyword: string): object {
  return { type: "json_schema", json_schema: { name: "a", schema: { [keyword]: [{}] } } };
}
