import { isRecord, listAt, textAt, valueAt } from "../../src/judge/read.ts";
import type { Body } from "../reference/answers.ts";
import type { Mutant } from "../reference/mutant.ts";
import type { Violation } from "../reference/violation.ts";
import {
  messagesOf,
  misjudge,
  overlook,
  overlookCode,
  strict,
  withMessages,
  withPieces,
  deltaOf,
} from "../seeded-bugs/mutate.ts";
import { unseen } from "./fault.ts";
import type { UnseenFault } from "./fault.ts";

type Json = Record<string, unknown>;

/** The engine gets another request than the caller sent. */
const engineGets = (edit: (body: Body) => Body): Mutant => ({ generated: edit });
const withoutMember = (...names: readonly string[]): Mutant =>
  engineGets((body) => Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))));
const withMessageList = (edit: (messages: readonly Json[]) => readonly unknown[]): Mutant => ({
  body: (body) => ({ ...body, messages: edit(messagesOf(body) as readonly Json[]) }), // the messages are valid
});
/** The server corrects a value that is out of its bounds, or of another type. */
const corrects = (...params: readonly string[]): Mutant =>
  overlook((found) => params.includes(String(found.param)) && ["invalid_value", "invalid_type"].includes(found.code));
const isText = (value: unknown): value is string => typeof value === "string";
const rewritten = (change: Partial<Violation>, isIt: (found: Violation) => boolean = () => true): Mutant =>
  misjudge((found) => isIt(found), change);

/** Faults in what the server makes of a request. */
export const requestFaults: readonly UnseenFault[] = [
  unseen(
    "n is ignored",
    engineGets((body) => ({ ...body, n: 1 })),
    "abetlen/llama-cpp-python#1906, vllm-project/vllm-omni#4269",
  ),
  unseen(
    "max_completion_tokens is ignored",
    { maxTokens: (most, body) => (body["max_completion_tokens"] === undefined ? most : 200) },
    "abetlen/llama-cpp-python#1907, ggml-org/llama.cpp#13700",
  ),
  unseen("max_tokens is ignored", {
    maxTokens: (most, body) =>
      (body["max_tokens"] ?? null) !== null && (body["max_completion_tokens"] ?? null) === null ? 200 : most,
  }),
  unseen("one token too many", { maxTokens: (most) => most + 1 }),
  unseen("without a maximum the answer has 16 tokens", {
    maxTokens: (most, body) => ((body["max_tokens"] ?? body["max_completion_tokens"] ?? null) === null ? 16 : most),
  }),
  unseen(
    "temperature 0 becomes the default",
    engineGets((body) => (body["temperature"] === 0 ? { ...body, temperature: 1 } : body)),
  ),
  unseen("seed is ignored", withoutMember("seed")),
  unseen("stop is ignored", withoutMember("stop"), "ggml-org/llama.cpp#11538"),
  unseen(
    "stop is a list of letters",
    engineGets((body) => (isText(body["stop"]) ? { ...body, stop: body["stop"].split("") } : body)),
  ),
  unseen(
    "only the first stop text counts",
    engineGets((body) => (Array.isArray(body["stop"]) ? { ...body, stop: body["stop"].slice(-1) } : body)),
  ),
  unseen(
    "the stop text is in the answer",
    withMessages((message, body) => {
      const [stop] = [body["stop"] ?? []].flat();
      return isText(stop) && stop.length > 2 && isText(message["content"]) && !stop.includes("§")
        ? { ...message, content: message["content"] + stop }
        : message;
    }),
    "mzau/mlx-knife#68",
  ),
  unseen(
    "the beginning of a stop text is streamed",
    withPieces((choice, _place, body) => {
      const [stop] = [body["stop"] ?? []].flat();
      return isText(stop) && stop.length > 2 && choice["finish_reason"] === "stop"
        ? { ...choice, finish_reason: "stop", delta: { ...deltaOf(choice), content: stop.slice(0, 2) } }
        : choice;
    }),
    "vllm-project/vllm#3574, SharpAI/SwiftLM#126",
  ),
  unseen("logit_bias is ignored", withoutMember("logit_bias"), "sgl-project/sglang#6171"),
  unseen("a temperature above 2 is clamped", corrects("temperature")),
  unseen("penalties out of their bounds are clamped", corrects("presence_penalty", "frequency_penalty")),
  unseen(
    "a bias out of its bounds is clamped",
    overlook((found) => String(found.param).startsWith("logit_bias")),
  ),
  unseen("n above its bound is clamped", corrects("n")),
  unseen("top_p 0 is accepted", corrects("top_p")),
  unseen("top_k below 0 means none", corrects("top_k")),
  unseen("a maximum of 0 means none", corrects("max_completion_tokens", "max_tokens")),
  unseen(
    "the text true is a boolean",
    overlook((found) => found.code === "invalid_type" && found.param === "stream"),
  ),
  unseen(
    "numbers may be texts",
    overlook(
      (found, body) => found.code === "invalid_type" && isText(body[String(found.param)]) && found.param !== "messages",
    ),
  ),
  unseen(
    "a wrong type is dropped without a word",
    overlook((found) => found.code === "invalid_type" && !/messages|model/.test(String(found.param))),
  ),
  unseen("an unknown effort is accepted", corrects("reasoning_effort")),
  unseen(
    "the effort none still reasons",
    engineGets((body) => (body["reasoning_effort"] === "none" ? { ...body, reasoning_effort: "high" } : body)),
  ),
  unseen("the effort is ignored", withoutMember("reasoning_effort")),
  unseen("a stop list of any length", corrects("stop")),
  unseen("a trailing comma is accepted", { text: (text) => text.replace(/,\s*\}$/, "}") }),
  unseen("NaN is JSON", { text: (text) => text.replaceAll("NaN", "0") }),
  unseen("comments are JSON", { text: (text) => text.replaceAll(/\/\/.*$/gm, "") }),
  unseen(
    "unknown members are refused",
    strict((body) => Object.keys(body).some((name) => /unknown|store|safety|verbosity/.test(name))),
  ),
  unseen(
    "null is refused where a member may be left out",
    strict((body) => Object.entries(body).some(([name, value]) => value === null && name !== "max_tokens")),
    "LostRuins/koboldcpp#643",
  ),
  unseen(
    "user is refused",
    strict((body) => "user" in body && body["user"] !== null),
  ),
  unseen(
    "metadata is refused",
    strict((body) => isRecord(body["metadata"])),
  ),
  unseen(
    "stream_options is refused",
    strict((body) => isRecord(body["stream_options"])),
    "BerriAI/litellm#5197",
  ),
  unseen(
    "seed of 64 bits fails",
    strict((body) => Math.abs(Number(body["seed"] ?? 0)) > 2 ** 60, 500),
  ),
  unseen(
    "the role developer is refused",
    strict((body) => messagesOf(body).some((one) => valueAt(one, "/role") === "developer")),
    "peonist-ai/halogen-flash-server#32",
  ),
  unseen(
    "developer is treated as user",
    withMessageList((messages) =>
      messages.map((one) => (one["role"] === "developer" ? { ...one, role: "user" } : one)),
    ),
  ),
  unseen(
    "a system message behind others fails",
    strict((body) => messagesOf(body).findLastIndex((one) => valueAt(one, "/role") === "system") > 0, 500),
  ),
  unseen(
    "the system message is dropped",
    withMessageList((messages) => messages.filter(({ role }) => role !== "system")),
  ),
  unseen(
    "only the last message is read",
    withMessageList((messages) => messages.slice(-1)),
  ),
  unseen(
    "a list of parts is refused",
    strict((body) => messagesOf(body).some((one) => Array.isArray(valueAt(one, "/content"))), 500),
    "ml-explore/mlx-examples#1195",
  ),
  unseen(
    "only the first part is read",
    withMessageList((messages) =>
      messages.map((one) => (Array.isArray(one["content"]) ? { ...one, content: one["content"].slice(0, 1) } : one)),
    ),
  ),
  unseen(
    "parts are joined by line ends",
    withMessageList((messages) =>
      messages.map((one) =>
        Array.isArray(one["content"])
          ? { ...one, content: one["content"].map((part) => textAt(part, "/text")).join("\n\n\n\n") }
          : one,
      ),
    ),
  ),
  unseen(
    "parts of an assistant are blank",
    withMessageList((messages) =>
      messages.map((one) =>
        one["role"] === "assistant" && Array.isArray(one["content"]) ? { ...one, content: "" } : one,
      ),
    ),
    "CommandCodeAI/command-code#820",
  ),
  unseen(
    "an image is dropped without a word",
    overlook((found) => found.code === "unsupported_value"),
    "leonickson1/Swiftlet#38",
  ),
  unseen(
    "an empty content is refused",
    strict((body) => messagesOf(body).some((one) => valueAt(one, "/content") === "")),
    "ayunis-core/ayunis-core#719",
  ),
  unseen(
    "no messages are accepted",
    overlook((found) => found.param === "messages" && found.code === "invalid_value"),
  ),
  unseen("an assistant message without content is accepted", overlookCode("missing_required_parameter", /content$/)),
  unseen(
    "a long conversation is cut to fit",
    {
      violation: (found) => (found?.code === "context_length_exceeded" ? undefined : found),
      prompt: (count) => Math.min(count, 4096),
    },
    "ollama/ollama",
  ),
  unseen(
    "a long message is cut",
    withMessageList((messages) =>
      messages.map((one) => (isText(one["content"]) ? { ...one, content: one["content"].slice(0, 200) } : one)),
    ),
  ),
  unseen(
    "too long a prompt is answered with 500",
    rewritten({ status: 500, code: "internal_error" }, ({ code }) => code === "context_length_exceeded"),
    "brave/brave-browser#32347",
  ),
  unseen(
    "a wrong type is answered with 500",
    rewritten({ status: 500, code: "internal_error" }, ({ code }) => code === "invalid_type"),
  ),
  unseen(
    "a wrong value is answered with 422",
    rewritten({ status: 422 }, ({ code }) => code === "invalid_value"),
  ),
  unseen(
    "an unknown model is answered by another",
    { ...overlookCode("model_not_found"), body: (body) => body },
    "ddalcu/mlx-serve#257",
  ),
  unseen(
    "an unknown model is answered with 400",
    rewritten({ status: 400 }, ({ code }) => code === "model_not_found"),
  ),
  unseen("top_logprobs alone is ignored", overlookCode("invalid_value", /^top_logprobs$/)),
  unseen(
    "the log-probability of a prompt in special tokens",
    withMessageList((messages) =>
      messages.map((one) =>
        isText(one["content"]) ? { ...one, content: one["content"].replaceAll(/<\|[a-z_]+\|>/g, "§") } : one,
      ),
    ),
  ),
  unseen(
    "names of speakers are refused",
    strict((body) => messagesOf(body).some((one) => isText(valueAt(one, "/name")))),
  ),
  unseen(
    "an error for a request of two choices that streams",
    strict((body) => body["stream"] === true && Number(body["n"] ?? 1) > 1),
  ),
  unseen(
    "log-probabilities of a stream are refused",
    strict((body) => body["stream"] === true && body["logprobs"] === true),
  ),
  unseen(
    "more than one tool result in a row is refused",
    strict((body) => messagesOf(body).filter((one) => valueAt(one, "/role") === "tool").length > 1),
  ),
  unseen(
    "calls without content are refused",
    strict(
      (body) =>
        messagesOf(body).some(
          (one) => listAt(one, "/tool_calls").length > 0 && (valueAt(one, "/content") ?? null) === null,
        ),
      500,
    ),
  ),
];
