import { limit } from "../../contract/contract.ts";
import type { Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { must, show, showHeader } from "../../judge/finding.ts";
import { ignoredNamesOf, mustNameIgnored } from "../../judge/ignored-params.ts";
import { finishOf } from "../../judge/read.ts";
import { combinedChecks } from "../../requests/combined-request.ts";
import type { Members } from "../../requests/chat-request.ts";
import type { Part } from "../../requests/combined-request.ts";
import { maxCompletionTokensOf } from "../../requests/listed-model.ts";
import { manyUnknownMembers } from "../../requests/unknown-members.ts";
import type { Answer } from "../../wire/answer.ts";

// Valid members: parts of requests that several clauses share.

const longName = `long_${"x".repeat(200)}`;
const accepted = ["store", "service_tier", "safety_identifier", "verbosity"];

/** Members of a request that every OpenAI-compatible server has, with the bounds of OpenAI's API. */
const common = "max_completion_tokens max_tokens temperature top_p frequency_penalty presence_penalty stop user".split(
  " ",
);
const bounds = (context: Context, members: Members): Members =>
  (context.profile.base ?? "parley") === "parley"
    ? members
    : Object.fromEntries(Object.entries(members).filter(([name]) => common.includes(name)));

const lowerBounds: Part = {
  clause: "REQ-05",
  how: "Sends every member at its lower bound.",
  members: (context) =>
    bounds(context, {
      max_completion_tokens: 1,
      max_tokens: null,
      n: 1,
      temperature: 0,
      top_k: 0,
      min_p: 0,
      frequency_penalty: -2,
      presence_penalty: -2,
      stop: "§",
      logprobs: true,
      top_logprobs: 0,
      logit_bias: { 0: -100 },
      metadata: {},
      user: "",
    }),
};

const wholeNumbers: Part = {
  clause: "REQ-07",
  how: "Sends `n` as 1.0 and max_completion_tokens as 1e0.",
  members: { max_completion_tokens: undefined, n: undefined },
  raw: ['"n":1.0', '"max_completion_tokens":1e0'],
};

/** Lower bounds, and unknown members that have to be named before ten thousand others. */
export const boundsAndIgnoredMembers: readonly Part[] = [
  lowerBounds,
  wholeNumbers,
  { clause: "REQ-36", how: "Sends the reasoning effort xhigh.", members: { reasoning_effort: "xhigh" } },
  {
    clause: "REQ-12",
    how: "Sends unknown members inside a message and inside a part of another, and expects their paths.",
    messages: [
      { role: "user", content: "Hello.", mood: "fine" },
      { role: "user", content: [{ type: "text", text: "Hello again.", tint: "red" }] },
    ],
    judge: (answer) => mustNameIgnored(answer, "messages[0].mood", "messages[1].content[0].tint"),
  },
  {
    clause: "REQ-13",
    how: "Sends the five harmless members and expects them named, except prompt_cache_key.",
    members: { store: true, service_tier: "auto", safety_identifier: "s", prompt_cache_key: "p", verbosity: "low" },
    judge: (answer) => {
      const isNamed = ignoredNamesOf(answer).includes("prompt_cache_key");
      must(!isNamed, answer, "x-ignored-params without prompt_cache_key", showHeader(answer, "x-ignored-params"));
      return mustNameIgnored(answer, ...accepted);
    },
    isOwnJudge: true,
  },
  {
    clause: "REQ-11",
    how: "Sends an unknown member and expects it named.",
    members: { conformance_unknown: { any: ["thing"] } },
    judge: (answer) => mustNameIgnored(answer, "conformance_unknown"),
  },
  {
    clause: "REQ-16",
    how: "Sends a name with a comma, a blank, a line's end and a letter beyond ASCII.",
    members: { "a,b c\r\nd\u00e4": 1 },
    judge: (answer) => mustNameIgnored(answer, "a?b?c??d??"),
  },
  {
    clause: "REQ-17",
    how: "Sends a name of more than 128 bytes.",
    members: { [longName]: 1 },
    judge: (answer) => mustNameIgnored(answer, longName.slice(0, limit("ignoredParamNameBytes"))),
  },
];

export const ignoredMembersInOrder: readonly Part[] = [
  {
    clause: "REQ-15",
    how: "Compares the header with the first 16 names in the order of the request.",
    raw: [manyUnknownMembers],
    judge: (answer) => {
      const named = ignoredNamesOf(answer);
      must(
        named.length === limit("ignoredParamsShown"),
        answer,
        `x-ignored-params with ${limit("ignoredParamsShown")} names`,
        `x-ignored-params with ${named.length} names`,
      );
      const body = answer.exchange.request.body ?? "";
      const places = named.filter((name) => /^\w+$/.test(name)).map((name) => body.indexOf(`"${name.slice(0, 120)}`));
      must(
        places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0)),
        answer,
        "x-ignored-params in the order of the request",
        `x-ignored-params: ${named.join(",")}`,
      );
      const last = named.at(-1) ?? "";
      must(
        /^unknown[0-9]$/.test(last) || last === "unknown15",
        answer,
        "x-ignored-params with the first names of the request",
        `x-ignored-params: ${named.join(",")}`,
      );
      return named.join(",");
    },
  },
  {
    clause: "REQ-20",
    how: "Sends x-strict-params with another value than true.",
    headers: [["x-strict-params", "yes"]],
    members: { conformance_unknown: { any: ["thing"] } },
  },
];

const astral = "😀";
const fourBytes = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`key${index}`, "v"]));

export const upperBounds: readonly Part[] = [
  {
    clause: "REQ-05",
    how: "Sends every member at its upper bound.",
    members: (context) =>
      bounds(context, {
        max_completion_tokens: 1,
        // REQ-05 is about the contract's own maximum, which the listing has.
        ...((context.profile.base ?? "parley") === "parley" && { max_tokens: maxCompletionTokensOf(context) }),
        temperature: 2,
        top_p: 1,
        top_k: 2_147_483_647,
        min_p: 1,
        frequency_penalty: 2,
        presence_penalty: 2,
        repetition_penalty: 2,
        stop: ["§1", "§2", "§3", "§4"],
        n: 8,
        logprobs: true,
        top_logprobs: 20,
        logit_bias: { 0: 100 },
        user: "someone",
        metadata: { ...fourBytes, [astral.repeat(64)]: astral.repeat(512) },
      }),
  },
];

/** Optional members that have an effect. */
export const optionalMembers = Object.fromEntries(
  "temperature top_p top_k min_p frequency_penalty presence_penalty repetition_penalty seed stop logit_bias logprobs top_logprobs n stream stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort user metadata max_tokens"
    .split(" ")
    .map((name) => [name, null]),
);

function mustBeOneChoice(answer: Answer): string {
  const reason = finishOf(answer);
  must(typeof reason === "string", answer, "one whole choice with a finish_reason", `finish_reason ${show(reason)}`);
  return `one choice that finished with ${reason}`;
}

export const nulls: readonly Part[] = [
  {
    clause: "REQ-09",
    how: "Sends null for every member that is not required.",
    members: (context) => bounds(context, optionalMembers),
    judge: mustBeOneChoice,
  },
  {
    clause: "REQ-10",
    how: "Sends null for members inside others.",
    members: { metadata: { a: null }, logit_bias: { 5: null } },
    messages: [{ role: "user", content: "Hello.", name: null }],
  },
  {
    clause: "REQ-14",
    how: "Sends an unknown member that is null, and `store` as null.",
    members: { store: null, conformance_unknown: null },
    judge: (answer) => {
      must(
        answer.header("x-ignored-params") === undefined,
        answer,
        "no x-ignored-params",
        showHeader(answer, "x-ignored-params"),
      );
      return "not named";
    },
  },
  {
    clause: "REQ-22",
    how: "Sends null for what is not supported, and text as the only modality.",
    members: {
      functions: null,
      function_call: null,
      audio: null,
      prediction: null,
      web_search_options: null,
      modalities: ["text"],
    },
  },
];

export const acceptedChecks: readonly Check[] = [
  ...combinedChecks("lower bounds and extras", [...boundsAndIgnoredMembers, ...ignoredMembersInOrder]),
  ...combinedChecks("upper bounds", upperBounds),
  ...combinedChecks("nulls and roles", nulls),
];
