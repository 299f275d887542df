import { limit } from "../contract/contract.ts";
import { must, show } from "../judge/finding.ts";
import { completionOf, finishOf, listAt } from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";
import { canReason, partsOfQuestion, say } from "./ask.ts";
import { conversation } from "./conversation.ts";
import { clientId } from "./http-every-answer.ts";
import { sentHeader } from "./http-browsers.ts";
import { mixture } from "./mixtures.ts";
import type { Part } from "./mixtures.ts";

const longName = `long_${"x".repeat(200)}`;
const namesOf = (answer: Answer): string[] =>
  (answer.header("x-ignored-params") ?? "").split(",").filter((name) => name !== "");

function mustName(answer: Answer, ...names: readonly string[]): string {
  const named = namesOf(answer);
  const missing = names.filter((name) => !named.includes(name));
  must(
    missing.length === 0,
    answer,
    `x-ignored-params with ${names.join(", ")}`,
    show(answer.header("x-ignored-params")),
  );
  return `named ${names.join(", ")}`;
}

const accepted = ["store", "service_tier", "safety_identifier", "prompt_cache_key", "verbosity"];
const many = Array.from({ length: 10_000 }, (_, index) => `"unknown${index}":0`).join(",");
const deep = `"deep":${"[".repeat(127)}${"]".repeat(127)}`;

/** An id that breaks the rule of X-Client-Request-Id is neither echoed nor a reason to refuse. */
const dropped: Part = {
  clause: "HTTP-32",
  how: "Sends an X-Client-Request-Id of 513 characters, and one that is not ASCII.",
  headers: [["X-Client-Request-Id", `${clientId}x`]],
  judge: (answer) => {
    must(
      answer.header("x-client-request-id") === undefined,
      answer,
      "no X-Client-Request-Id",
      show(answer.header("x-client-request-id")),
    );
    return `${sentHeader(answer, "x-client-request-id")?.length} characters dropped`;
  },
};

const lower: Part = {
  clause: "REQ-05",
  how: "Sends every member at its lower bound.",
  members: {
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
  },
};

const wholeNumbers: Part = {
  clause: "REQ-07",
  how: "Sends `n` as 1.0 and the cap as 1e0.",
  members: { max_completion_tokens: undefined, n: undefined },
  raw: ['"n":1.0', '"max_completion_tokens":1e0'],
};

/**
 * Every member at its lower bound, and everything that is accepted without effect. The order of the members is the order
 * of the names in the header. A thought of one token shows whether the cap counts it.
 */
const extras = mixture({
  name: "lower bounds and extras",
  base: { max_completion_tokens: 1 },
  together: (context) => (canReason(context) ? { reasoning_effort: "high" } : {}),
  parts: [
    lower,
    wholeNumbers,
    {
      clause: "REQ-12",
      how: "Sends unknown members inside a message and inside a part of another, and expects their paths.",
      messages: [
        { role: "user", content: "Hello.", mood: "fine" },
        { role: "user", content: [{ type: "text", text: "Hello again.", tint: "red" }] },
      ],
      judge: (answer) => mustName(answer, "messages[0].mood", "messages[1].content[0].tint"),
    },
    {
      clause: "REQ-13",
      how: "Sends the five harmless members and expects them named.",
      members: { store: true, service_tier: "auto", safety_identifier: "s", prompt_cache_key: "p", verbosity: "low" },
      judge: (answer) => mustName(answer, ...accepted),
    },
    {
      clause: "REQ-11",
      how: "Sends an unknown member and expects it named.",
      members: { conformance_unknown: { any: ["thing"] } },
      judge: (answer) => mustName(answer, "conformance_unknown"),
      interopMatters: true,
    },
    {
      clause: "REQ-16",
      how: "Sends a name with a comma, a blank, a line's end and a letter beyond ASCII.",
      members: { "a,b c\r\nd\u00e4": 1 },
      judge: (answer) => mustName(answer, "a?b?c??d??"),
    },
    {
      clause: "REQ-17",
      how: "Sends a name of more than 128 bytes.",
      members: { [longName]: 1 },
      judge: (answer) => mustName(answer, longName.slice(0, limit("ignoredParamNameBytes"))),
    },
    {
      clause: "HTTP-18",
      how: "Sends 10 000 unknown members, `__proto__` and `constructor`.",
      raw: ['"__proto__":{"x":1}', '"constructor":{"y":2}', many],
      judge: (answer) => mustName(answer, "__proto__", "constructor"),
    },
    {
      clause: "REQ-15",
      how: "Compares the header with the first 16 names in the order of the request.",
      raw: [many],
      judge: (answer) => {
        const named = namesOf(answer);
        must(
          named.length === limit("ignoredParamsShown"),
          answer,
          `${limit("ignoredParamsShown")} names`,
          `${named.length} names`,
        );
        const body = answer.exchange.ask.body ?? "";
        const places = named.filter((name) => /^\w+$/.test(name)).map((name) => body.indexOf(`"${name.slice(0, 120)}`));
        must(
          places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0)),
          answer,
          "names in the order of the request",
          named.join(","),
        );
        const last = named.at(-1) ?? "";
        must(/^unknown[0-9]$/.test(last) || last === "unknown15", answer, "the first ones", named.join(","));
        return named.join(",");
      },
    },
    {
      clause: "REQ-20",
      how: "Sends x-strict-params with another value than true.",
      headers: [["x-strict-params", "yes"]],
      members: { conformance_unknown: { any: ["thing"] } },
    },
    {
      clause: "HTTP-12",
      how: "Declares the charset in capitals.",
      headers: [["Content-Type", "Application/JSON; Charset=UTF-8"]],
      interopMatters: true,
    },
    { clause: "HTTP-15", how: "Sends a body of exactly 128 levels.", raw: [deep] },
    {
      clause: "HTTP-17",
      how: "Sends `n` as 2, and again as 1.",
      members: { n: 2 },
      raw: ['"n":1'],
      judge: (answer) => {
        const { length } = listAt(completionOf(answer), "/choices");
        must(length === 1, answer, "one choice, by the last `n`", `${length}`);
        return "one choice";
      },
    },
    { clause: "AUTH-07", how: "Writes the scheme in mixed letters.", headers: [["Authorization", "bEaReR {key}"]] },
    dropped,
  ],
});

const astral = "😀";
const fourBytes = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`key${index}`, "v"]));

const upper = mixture({
  name: "upper bounds",
  together: () => say(partsOfQuestion),
  parts: [
    {
      clause: "REQ-05",
      how: "Sends every member at its upper bound.",
      members: {
        max_completion_tokens: 1,
        max_tokens: 16_384,
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
      },
    },
  ],
});

/** Members that have an effect, and need not be there. */
export const nobody = Object.fromEntries(
  "temperature top_p top_k min_p frequency_penalty presence_penalty repetition_penalty seed stop logit_bias logprobs top_logprobs n stream stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort user metadata max_tokens"
    .split(" ")
    .map((name) => [name, null]),
);

function mustBeOneChoice(answer: Answer): string {
  const reason = finishOf(answer);
  must(typeof reason === "string", answer, "one whole choice", show(reason));
  return `one choice that finished with ${reason}`;
}

/** Null for everything but the older cap, and one conversation with everything in it that messages may have. */
const nulls = mixture({
  name: "nulls and roles",
  base: { max_completion_tokens: 1 },
  together: () => ({ max_completion_tokens: undefined, max_tokens: 1 }),
  parts: [
    {
      clause: "REQ-09",
      how: "Sends null for every member that is not required.",
      members: nobody,
      interopMatters: true,
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
          show(answer.header("x-ignored-params")),
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
    { ...dropped, headers: [["X-Client-Request-Id", "caf\u00e9"]] },
    ...conversation,
  ],
});

const all = [extras, upper, nulls];
export const acceptedMembers = {
  steps: all.flatMap(({ steps }) => steps),
  checks: all.flatMap(({ checks }) => checks),
};
