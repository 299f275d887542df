import type { Case, Finding, Seen } from "./case.ts";
import { finding } from "./case.ts";
import { judgeAnswer, judgeRepeats, textOf } from "./judge-answer.ts";
import { answerWith, choice, completion, errorAnswer } from "./scripts.ts";
import type { Members } from "./scripts.ts";
import { delicateText } from "./request-cases.ts";

const wholeAnswer = completion(
  [
    choice({ content: "Ünïcode 👩‍👩‍👧", annotations: [], x_note: "kept?" }, "stop", 0, {
      logprobs: {
        content: [
          {
            token: "Ü",
            logprob: -0.0000012345,
            bytes: [195, 156],
            top_logprobs: [{ token: "Ü", logprob: -0.0000012345, bytes: [195, 156] }],
          },
        ],
        refusal: null,
      },
    }),
    choice({ content: "Cut", reasoning_content: "thinking" }, "length", 1),
    choice({ content: null, refusal: "No." }, "content_filter", 2),
    choice(
      {
        content: null,
        tool_calls: [
          {
            id: "call_b",
            type: "function",
            function: { name: "second", arguments: '{ "b": 1.0, "a": 9007199254740993 }' },
          },
          { id: "call_a", type: "function", function: { name: "first", arguments: "{\n}" } },
        ],
      },
      "tool_calls",
      3,
    ),
  ],
  { service_tier: "default", x_engine: { queue_ms: 3 } },
);

const reads = (name: string, does: string, body: unknown, rest: Partial<Case> = {}): Case => ({
  name,
  does,
  script: answerWith(body),
  judge: judgeAnswer,
  ...rest,
});

const withoutUsage: Members = { ...completion([choice({ content: "Good." }, "stop")]) };

/** An error of the upstream, with the number of requests that it is worth. */
const fails = (status: number, error: Members, headers: Readonly<Record<string, string>> = {}): Case => ({
  name: `error-${status}`,
  does: `Lets the upstream answer ${status}.`,
  script: errorAnswer(status, error, headers),
  judge: (seen) => [...judgeAnswer(seen), ...judgeErrorRepeats(seen, status)],
});

function judgeErrorRepeats(seen: Seen, status: number): Finding[] {
  const waits = seen.script.headers?.["retry-after"];
  if (waits !== undefined) {
    const [first, second] = seen.received;
    const isEarly = first && second && second.atMs - first.atMs < Number(waits) * 1000 * 0.9;
    return isEarly
      ? judgeRepeats(seen, `The upstream asked for a wait of ${waits} s, and was asked again before.`)
      : [];
  }
  return status < 500
    ? judgeRepeats(seen, `The upstream refused the request with ${status}, and the gateway sent it again.`)
    : judgeRepeats(seen, `The upstream failed with ${status}, and the gateway sent the request again.`, true);
}

const halfAnswer = JSON.stringify(completion([choice({ content: "Paid for." }, "stop")])).slice(0, 90);

/** The caller must not take a broken answer for a good one, and a generation that has begun is not paid twice. */
function judgeBrokenAnswer(seen: Seen): Finding[] {
  const { answer, received, script } = seen;
  // Half an answer that arrives as half an answer was passed on as it was.
  const isSame = script.end !== "reset" && answer.text === textOf(script.pieces);
  const isGood = answer.status === 200 && answer.isWhole && !isSame;
  return [
    ...(isGood && received.length > 0
      ? [
          finding(
            "invented",
            "answer",
            "the success",
            "The upstream gave no valid answer, and the caller received 200.",
            { got: answer.summary },
          ),
        ]
      : []),
    ...judgeRepeats(seen, "The upstream had begun its answer, and the gateway paid for the generation again."),
  ];
}

const json = { "content-type": "application/json" };

export const answerCases: readonly Case[] = [
  reads(
    "whole-answer",
    "Answers with four choices, calls, log probabilities, details of usage and unknown members.",
    wholeAnswer,
    {
      members: { n: 4, logprobs: true },
    },
  ),
  reads(
    "delicate-answer",
    "Answers with text that careless services change.",
    completion([choice({ content: delicateText }, "stop")]),
  ),
  reads(
    "no-usage",
    "Answers without usage: a gateway must not invent one.",
    (({ usage: _usage, ...rest }) => rest)(withoutUsage),
  ),
  reads(
    "odd-finish",
    "Answers with a finish_reason of the engine's own.",
    completion([choice({ content: "Good." }, "abort")]),
  ),
  reads(
    "long-answer",
    "Answers with a text of a million characters.",
    completion([choice({ content: "9876543210".repeat(100_000) }, "stop")]),
  ),
  {
    ...reads("split-characters", "Writes its answer in pieces that end inside of characters.", undefined),
    script: {
      headers: json,
      pieces: [
        ...Buffer.from(JSON.stringify(completion([choice({ content: "é👩‍👩‍👧שלום" }, "stop")])))
          .toString("latin1")
          .matchAll(/[^]{1,37}/g),
      ].map(([part]) => ({ bytes: Buffer.from(part, "latin1"), afterMs: 5 })),
    },
  },
  fails(400, {
    message: "The messages do not alternate.",
    type: "invalid_request_error",
    param: "messages",
    code: "bad_order",
  }),
  fails(422, {
    message: "The schema is not supported.",
    type: "invalid_request_error",
    param: "response_format",
    code: null,
  }),
  fails(404, {
    message: "The model is not loaded.",
    type: "invalid_request_error",
    param: "model",
    code: "model_not_found",
  }),
  fails(413, { message: "The request is too large.", type: "invalid_request_error", param: null, code: "too_large" }),
  fails(
    429,
    { message: "Too many requests.", type: "rate_limit_error", code: "rate_limit_exceeded" },
    {
      "retry-after": "7",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "7s",
    },
  ),
  fails(503, { message: "The engine is loading.", type: "server_error", code: "overloaded" }, { "retry-after": "9" }),
  fails(500, { message: "The engine failed.", type: "server_error", code: "internal_error" }),
  ...[402, 403, 409, 502, 504].map((status) =>
    fails(status, { message: `The upstream answers ${status}.`, type: "upstream_error", code: `code_${status}` }),
  ),
  fails(401, { message: "The key is wrong.", type: "invalid_request_error", code: "invalid_api_key" }),
  {
    name: "cut-answer",
    does: "Resets the connection in the middle of an answer.",
    script: { headers: json, pieces: [{ bytes: halfAnswer }], end: "reset" },
    judge: judgeBrokenAnswer,
  },
  {
    name: "half-answer",
    does: "Ends an answer in good order after half of its JSON.",
    script: { headers: json, pieces: [{ bytes: halfAnswer }] },
    judge: judgeBrokenAnswer,
  },
  {
    name: "html-answer",
    does: "Answers 200 with a page of HTML.",
    script: { headers: { "content-type": "text/html" }, pieces: [{ bytes: "<html><h1>Welcome</h1></html>" }] },
    judge: (seen) =>
      seen.answer.status === 200 && seen.answer.mediaType === "application/json"
        ? [
            finding(
              "invented",
              "answer",
              "the success",
              "The upstream answered with HTML, and the caller received 200 with JSON.",
              { got: seen.answer.summary },
            ),
          ]
        : [],
  },
];
