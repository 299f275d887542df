import { unsupportedMembers } from "../../contract/contract.ts";
import type { Step } from "../../judge/check.ts";
import { cannot, show } from "../../judge/finding.ts";
import { mustStopAtMaxTokens } from "../../judge/max-tokens.ts";
import { chat, question } from "../../requests/chat-request.ts";
import { refusals } from "../../requests/refusals.ts";
import type { Case } from "../../requests/refusals.ts";

const wrong = (code: string, param?: string) => ({ status: 400, code, ...(param !== undefined && { param }) });

/** A member with a value that is not allowed, and the path that the error has to name. */
const bad = (member: string, value: unknown, param = member): Case => ({
  title: `${member} ${value === undefined ? "nothing" : show(value).slice(0, 40)}`,
  members: { [member]: value },
  want: { param },
});

const withRaw = (member: string, text: string, param = member): Case => ({
  title: `${member} ${text.slice(0, 40)}`,
  members: { [member]: undefined },
  raw: [`"${member}":${text}`],
  want: { param },
});

/** A member of another service, in the body or in a message. */
function foreign({ member }: { readonly member: string }): Case {
  const name = member.replace("messages[].", "");
  const message = { messages: [{ role: "user", content: question, [name]: "conformance" }] };
  return name === member
    ? bad(name, "conformance")
    : { title: member, members: message, want: { param: `messages[0].${name}` } };
}

const long = (length: number): string => "x".repeat(length);
const pairs = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, "v"]));

export const plans = refusals([
  {
    clause: "REQ-01",
    want: wrong("missing_required_parameter"),
    cases: [bad("messages", undefined), bad("model", undefined)],
  },
  {
    clause: "REQ-02",
    want: wrong("invalid_type"),
    cases: [bad("model", null), { ...bad("messages", null), coveredBy: "odd values" }],
  },
  {
    clause: "REQ-03",
    isWide: true,
    want: wrong("invalid_type"),
    cases: [
      { ...bad("stream", "true"), coveredBy: 'REQ-06 stream "true"' },
      bad("temperature", { hot: true }),
      bad("stream", 1),
      bad("messages", "Hello"),
      bad("messages", { user: "Hello" }),
      bad("n", [1]),
      bad("stop", 7),
      bad("user", 5),
      bad("model", 5),
      bad("metadata", "x"),
      bad("logit_bias", []),
      bad("top_p", true),
      bad("logprobs", 0),
      bad("tools", {}),
      bad("max_completion_tokens", {}),
      bad("presence_penalty", []),
      bad("stream_options", "x"),
      bad("response_format", "json_object"),
      bad("reasoning_effort", 3),
      bad("store", "yes"),
      bad("seed", {}),
    ],
  },
  {
    clause: "REQ-04",
    isWide: true,
    want: wrong("invalid_value"),
    cases: [
      { ...bad("n", 9), isAlways: true },
      { ...bad("top_p", 0), coveredBy: "several faults" },
      bad("temperature", 2.1),
      bad("temperature", 7),
      bad("max_completion_tokens", 0),
      bad("frequency_penalty", -2.5),
      bad("presence_penalty", 2.5),
      bad("top_p", 1.1),
      bad("top_k", -1),
      bad("min_p", 1.5),
      bad("repetition_penalty", 0),
      bad("max_tokens", 0),
      bad("n", 0),
      bad("temperature", -0.1),
      bad("reasoning_effort", "extreme"),
      bad("logit_bias", { 5: 101 }, "logit_bias.5"),
      bad("repetition_penalty", 2.5),
    ],
  },
  {
    clause: "REQ-06",
    isWide: true,
    want: wrong("invalid_type"),
    cases: [{ ...bad("stream", "true"), isAlways: true }, bad("temperature", "0.5"), bad("n", "1"), bad("seed", "7")],
  },
  {
    clause: "REQ-08",
    isWide: true,
    want: wrong("invalid_type"),
    cases: [bad("max_completion_tokens", 1.5), bad("n", 1.5), bad("top_k", 0.5)],
  },
  {
    clause: "REQ-19",
    want: wrong("unknown_parameter"),
    cases: [
      {
        title: "an unknown member",
        members: { conformance_unknown: 1 },
        headers: [["x-strict-params", "true"]],
        want: { param: "conformance_unknown" },
        coveredBy: "REQ-20 x-strict-params in capitals",
      },
      { title: "store", members: { store: true }, headers: [["x-strict-params", "true"]], want: { param: "store" } },
      {
        title: "a maximum that would be lowered",
        members: { max_completion_tokens: 100_000_000 },
        headers: [["x-strict-params", "true"]],
        want: { param: "max_completion_tokens" },
      },
    ],
  },
  {
    clause: "REQ-20",
    want: wrong("unknown_parameter"),
    cases: [
      {
        title: "x-strict-params in capitals",
        members: { conformance_unknown: 1 },
        headers: [["X-Strict-Params", "TRUE"]],
        want: { param: "conformance_unknown" },
      },
    ],
  },
  {
    clause: "REQ-21",
    want: wrong("unsupported_parameter"),
    cases: [
      bad("functions", [{ name: "f" }]),
      bad("modalities", ["text", "audio"]),
      bad("function_call", "auto"),
      bad("audio", { voice: "x" }),
      bad("prediction", { type: "content", content: "x" }),
      bad("web_search_options", {}),
      bad("modalities", ["audio"]),
    ],
  },
  { clause: "REQ-37", want: wrong("unsupported_parameter"), cases: unsupportedMembers.map(foreign) },
  {
    clause: "REQ-23",
    want: wrong("invalid_value", "top_logprobs"),
    sample: 2,
    cases: [
      { title: "top_logprobs alone", members: { top_logprobs: 2 } },
      { title: "top_logprobs beside logprobs: false", members: { logprobs: false, top_logprobs: 2 } },
    ],
  },
  {
    clause: "REQ-24",
    want: wrong("invalid_value", "stream_options"),
    cases: [
      { title: "stream_options alone", members: { stream_options: { include_usage: true } } },
      { title: "stream_options beside stream: false", members: { stream: false, stream_options: {} } },
    ],
  },
  {
    clause: "REQ-27",
    want: wrong("invalid_value", "seed"),
    sample: 2,
    cases: [withRaw("seed", "9223372036854775808"), withRaw("seed", "-9223372036854775809")],
  },
  {
    clause: "REQ-29",
    want: wrong("invalid_type", "seed"),
    sample: 2,
    cases: [withRaw("seed", "7.0"), withRaw("seed", "1e3")],
  },
  {
    clause: "REQ-31",
    want: wrong("invalid_value"),
    cases: [
      bad("metadata", pairs(17)),
      { ...bad("metadata", { a: long(513) }, "metadata.a"), title: "metadata with a long value" },
      { title: "metadata with a long name", members: { metadata: { [long(65)]: "v" } } },
    ],
  },
  {
    clause: "REQ-33",
    want: wrong("invalid_value"),
    sample: 3,
    cases: [
      bad("stop", ""),
      bad("stop", ["a", ""], "stop[1]"),
      bad("stop", ["a", "b", "c", "d", "e"]),
      bad("stop", []),
    ],
  },
]);

export const steps: readonly Step[] = [
  {
    name: "other values of x-strict-params",
    needs: ["models"],
    requests: (context) => {
      if (!context.profile.isExhaustive) cannot("left out of a short run; --exhaustive sends every case");
      const members = { conformance_unknown: 1, max_completion_tokens: 1 };
      return ["1", "on", "false", "true;q=1"].map((value) =>
        chat(context, members, { headers: [["x-strict-params", value]] }),
      );
    },
  },
  {
    name: "odd values",
    needs: ["models"],
    requests: (context) => [
      chat(
        context,
        {},
        { raw: ['"messages":null', '"temperature":1e999', '"__proto__":[]', '"constructor":{"prototype":{}}'] },
      ),
    ],
  },
  {
    name: "both max tokens",
    needs: ["models", "upper bounds"],
    isValid: true,
    coveredBy: (context) => {
      mustStopAtMaxTokens(context.answer("upper bounds"));
      return "upper bounds";
    },
    requests: (context) => [chat(context, { max_completion_tokens: 2, max_tokens: 5, stop: undefined })],
  },
  {
    name: "max_tokens alone",
    needs: ["models", "nulls and roles"],
    isValid: true,
    coveredBy: (context) => {
      mustStopAtMaxTokens(context.answer("nulls and roles"));
      return "nulls and roles";
    },
    requests: (context) => [chat(context, { max_completion_tokens: undefined, max_tokens: 3 })],
  },
  {
    name: "ends of the seed",
    needs: ["models"],
    requests: (context) =>
      ["9223372036854775807", "-9223372036854775808"].map((seed) =>
        chat(context, { max_completion_tokens: 1 }, { raw: [`"seed":${seed}`] }),
      ),
  },
];
