import { answerOf } from "../reference/language.ts";
import type { Body } from "../reference/answers.ts";
import type { KeyRole } from "../../src/profile.ts";

/** The method of an SDK that a call uses. */
export type Method =
  | "list models"
  | "retrieve a model"
  | "chat"
  /** The events one by one, joined as users do. */
  | "stream"
  /** The SDK's own collector of a stream. */
  | "collect"
  /** The SDK's helper for structured answers: the content as an object of the caller's type. */
  | "parse"
  /** A forced call, whose message is sent back with the tool's result. */
  | "tool loop"
  /** A stream that is left after its first text, and a call afterwards. */
  | "leave"
  /** A path that the service does not have. */
  | "embeddings";

/** A call that every SDK makes, if it can. */
export interface Call {
  readonly name: string;
  readonly method: Method;
  /** Members of the body. The SDKs add none, but for those of their helpers. */
  readonly members: Body;
  /** The key's role in the subject. Absent: the ordinary key. */
  readonly key?: KeyRole | "none" | "unknown" | "spare" | "rare";
  /** The model to retrieve. */
  readonly id?: string;
  readonly timeoutSeconds: number;
  /** Requests are sent first with the same key, until its limit is reached. */
  readonly isDrained?: boolean;
  /** The call has to fail. */
  readonly mustFail?: boolean;
  /** Clauses whose bugs the call is tried with. Absent: all, because it is quick. */
  readonly only?: RegExp;
}

const ask = (content: unknown): Body => ({ messages: [{ role: "user", content }] });
const base: Body = {
  model: "reference/toy",
  temperature: 0,
  // An SDK may leave out a temperature of 0.
  seed: 7,
  max_completion_tokens: 8,
  ...ask("Name three planets."),
};
const script = (name: string): Body => ({ ...base, ...ask(`script:conformance-${name}`) });
/** A word that the toy model writes in the middle of its answer to `base`. */
const word = answerOf(base, 0).tokens[3]?.text.trim() ?? "";

const parameters = {
  type: "object",
  properties: { colour: { type: "string", enum: ["red", "blue"] }, loud: { type: "boolean" } },
  required: ["colour", "loud"],
  additionalProperties: false,
};
const tool = (name: string, more: Body = { parameters }): Body => ({
  type: "function",
  function: { name, description: `Calls ${name}.`, ...more },
});
const tools = { tools: [tool("paint"), tool("sing")], max_completion_tokens: 64 };
const paint = { type: "function", function: { name: "sing" } };
const schema = {
  type: "object",
  properties: { kind: { type: "string", enum: ["sun", "moon"] } },
  required: ["kind"],
  additionalProperties: false,
};
const form = (strict: boolean): Body => ({
  response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict } },
  max_completion_tokens: 64,
});
/** A form whose values take more than three tokens. */
const long: Body = {
  response_format: {
    type: "json_schema",
    json_schema: {
      name: "answer",
      schema: {
        ...schema,
        properties: { first: schema, second: schema, third: schema },
        required: ["first", "second", "third"],
      },
      strict: true,
    },
  },
};
/** An answer with a call as SDKs hand it out, which users send back whole. */
const replayed = [
  { role: "user", content: "Paint it." },
  {
    role: "assistant",
    content: null,
    refusal: null,
    annotations: [],
    audio: null,
    function_call: null,
    tool_calls: [
      { id: "call_7", type: "function", function: { name: "paint", arguments: '{"colour":"red","loud":true}' } },
    ],
  },
  { role: "tool", tool_call_id: "call_7", content: "Done." },
];
const usage = { stream_options: { include_usage: true } };

const call = (name: string, method: Method, members: Body = {}, more: Partial<Call> = {}): Call => ({
  name,
  method,
  members: { ...base, ...members },
  timeoutSeconds: 5,
  ...more,
});
/** A call that has to fail. */
const failing = (name: string, method: Method, members: Body = {}, more: Partial<Call> = {}): Call =>
  call(name, method, members, { ...more, mustFail: true });
/** The same call plain and streamed. */
const both = (name: string, members: Body, more: Partial<Call> = {}): readonly Call[] => [
  call(name, "chat", members, more),
  call(`${name}, streamed`, "stream", { ...members, ...usage }, more),
];
const bothFailing = (name: string, members: Body, more: Partial<Call> = {}): readonly Call[] =>
  both(name, members, { ...more, mustFail: true });
/** The same call plain, streamed, and streamed with the SDK's collector. */
const thrice = (name: string, members: Body, more: Partial<Call> = {}): readonly Call[] => [
  ...both(name, members, more),
  // Some collectors refuse an answer that is cut.
  call(`${name}, collected`, "collect", { ...members, ...usage, max_completion_tokens: 64 }, more),
];

/** Other bugs collect the events, so that the failure comes before the first one. */
const failures = /^STRM-(?:2[2-7]|40|41)$/;
/** A failure after the first text. The SDKs do not repeat it. */
const broken = (name: string, members: Body): readonly Call[] => [
  failing(name, "stream", { ...members, ...usage }, { only: failures }),
  failing(`${name}, collected`, "collect", { ...members, ...usage }, { only: failures }),
];
const timed = /^(?:STRM-2[689]|STRM-3[0-9]|STRM-4[0-2]|OPS-0[1-8])$/;

export const calls: readonly Call[] = [
  call("the models", "list models"),
  call("a listed model", "retrieve a model", {}, { id: "reference/toy" }),
  failing("an unknown model", "retrieve a model", {}, { id: "conformance-none" }),
  call("an alias", "retrieve a model", {}, { id: "toy" }),

  ...thrice("a text", {}),
  call("a text, streamed without counts", "stream", {}),
  ...both("a text of three tokens", { max_completion_tokens: 3 }),
  call("a text of three tokens by max_tokens", "chat", { max_completion_tokens: undefined, max_tokens: 3 }),
  ...both("a whole text", { max_completion_tokens: undefined }),
  call("a text with 24 tokens of room", "chat", { max_completion_tokens: 24 }),
  call("a text with more room than there is", "chat", { max_completion_tokens: undefined, max_tokens: 100_000 }),
  ...thrice("two choices", { n: 2, temperature: 1, seed: 3 }),
  ...both("a text with a stop", { stop: word }),
  call("a text with stops", "chat", { stop: [word, "never"] }),
  ...thrice("log-probabilities", { logprobs: true, top_logprobs: 2 }),
  call("log-probabilities of two choices", "chat", { logprobs: true, n: 2 }),
  call("five alternatives", "chat", { logprobs: true, top_logprobs: 5, max_completion_tokens: 12 }),
  call("a seed", "chat", { temperature: 1, seed: 7 }),
  call("sampling at its bounds", "chat", {
    temperature: 2,
    top_p: 1,
    seed: 7,
    frequency_penalty: 2,
    presence_penalty: -2,
  }),
  call("members of OpenAI's own", "chat", {
    user: "u",
    metadata: { team: "a" },
    store: false,
    service_tier: "auto",
    prompt_cache_key: "k",
    safety_identifier: "s",
    modalities: ["text"],
  }),
  call("members that are null", "chat", {
    temperature: null,
    seed: 7,
    stop: null,
    n: null,
    tools: null,
    response_format: null,
    logit_bias: null,
  }),
  call("a system message", "chat", {
    messages: [{ role: "system", content: "Be brief." }, ...(base["messages"] as [])],
  }), // it is a list
  call("a developer message", "chat", {
    messages: [{ role: "developer", content: "Be brief." }, ...(base["messages"] as [])], // it is a list
  }),
  call("a late system message", "chat", {
    messages: [...(base["messages"] as []), { role: "system", content: "Be brief." }],
  }), // it is a list
  call(
    "text in parts",
    "chat",
    ask([
      { type: "text", text: "Name " },
      { type: "text", text: "planets." },
    ]),
  ),
  call("an empty text", "chat", ask("")),
  call("a name", "chat", { messages: [{ role: "user", name: "ann", content: "Hello." }] }),
  call("wide characters", "chat", ask("שלום 👩‍👩‍👧")),
  call("an answer that is sent back", "chat", { messages: replayed, tools: [tool("paint")] }),
  call("an earlier text that is sent back", "chat", {
    messages: [
      { role: "user", content: "Hi." },
      { role: "assistant", content: "Ho.", refusal: null, annotations: [] },
      { role: "user", content: "On." },
    ],
  }),
  call("a short alias", "chat", { model: "toy" }),
  call("another listed model", "chat", { model: "reference/toy-mini" }),
  ...both("low effort", { reasoning_effort: "low", max_completion_tokens: 30 }),
  call("no effort", "chat", { reasoning_effort: "none", max_completion_tokens: 30 }),

  ...thrice("a named call", { ...tools, tool_choice: paint }),
  ...thrice("a required call", { ...tools, tool_choice: "required" }),
  call("two choices with a call", "chat", { ...tools, n: 2, tool_choice: "required" }),
  call("one call at most", "chat", { ...tools, tool_choice: "required", parallel_tool_calls: false }),
  call("a call without parameters", "chat", { ...tools, tools: [tool("ping", {})], tool_choice: "required" }),
  call("a strict call", "chat", {
    ...tools,
    tools: [tool("paint", { parameters, strict: true })],
    tool_choice: "required",
  }),
  ...both("a call that is cut", { ...tools, tool_choice: "required", max_completion_tokens: 2 }),
  ...both("tools without a choice", tools),
  call("tools that must not be called", "chat", { ...tools, tool_choice: "none" }),
  call("a tool and its result", "tool loop", { ...tools, tool_choice: "required" }),

  call("an object", "parse", form(true)),
  ...both("a strict schema", form(true)),
  call("a loose schema", "chat", form(false)),
  call("any object", "chat", { response_format: { type: "json_object" }, max_completion_tokens: 64 }),
  call("a format of text", "chat", { response_format: { type: "text" } }),
  ...both("an object that is cut", { ...long, max_completion_tokens: 3 }),
  failing("an object that is cut, parsed", "parse", { max_completion_tokens: 2 }),

  ...bothFailing("a wrong key", {}, { key: "unknown" }),
  failing("no key", "chat", {}, { key: "none" }),
  failing("a wrong key for the models", "list models", {}, { key: "unknown" }),
  failing("an expired key", "chat", {}, { key: "expired" }),
  ...bothFailing("a name of no model", { model: "conformance/none" }),
  failing("a model that the key must not use", "chat", { model: "reference/toy-mini" }, { key: "restricted" }),
  ...bothFailing("a value out of bounds", { temperature: 3 }),
  failing("a value of a wrong type", "chat", { temperature: "hot" }),
  ...bothFailing("a prompt that is too long", ask("word ".repeat(30_000))),
  failing("an image", "chat", ask([{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }])),
  failing("an unknown path", "embeddings"),
  failing("a spent budget", "chat", {}, { key: "spent" }),
  failing("a request above the limit", "chat", {}, { only: /^LIM-/, key: "tokens" }),
  ...bothFailing("a refusal of the template", script("refusal")),

  ...bothFailing("an engine that breaks at once", script("early-failure"), {
    only: /^(?:ERR-0[1-5]|OPS-0[1-5]|STRM-26)$/,
  }),
  ...broken("a stream that breaks", script("late-failure")),
  ...broken("a stream without an end", script("no-finish")),
  ...broken("a stream with an odd end", script("odd-finish")),
  ...both("wide characters in the answer", script("characters")),
  ...both("odd line ends in the answer", script("line-ends")),
  call("a slow answer, streamed", "stream", script("paced"), { only: timed, timeoutSeconds: 1 }),
  call("a slow start, streamed", "stream", script("slow-start"), { only: timed, timeoutSeconds: 1.5 }),
  call("a silence, streamed", "stream", script("silence"), { only: timed, timeoutSeconds: 1 }),
  call("a stream that is left", "leave", script("slow"), { only: /^(?:LIM-|STRM-32|STRM-42)/, key: "concurrency" }),
  call("a limit that is reached", "chat", {}, { only: /^LIM-/, key: "spare", isDrained: true }),
  call("a limit that is reached, streamed", "stream", {}, { only: /^LIM-/, key: "spare", isDrained: true }),
  failing("a limit with a long wait", "chat", {}, { only: /^LIM-/, key: "rare" }),
];
