import contract from "@parley/contract/contract.json" with { type: "json" };
import type { components } from "@parley/contract/types";
import { showSchema } from "@parley/inference";
import type { EngineMetadata, EngineRequest, FunctionTool, RequestOrigin, Sampling } from "@parley/inference";
import type { Schema } from "@parley/json-schema-grammar";
import { samplingNames } from "../config/sampling.ts";
import { ApiError } from "../errors/api-error.ts";
import type { BodyText } from "./body/body-text.ts";
import type { NamedMaximum } from "./body/validate-body.ts";

/** The validated body of a chat request. */
type ChatRequest = components["schemas"]["ChatCompletionRequest"];
type Message = components["schemas"]["ChatMessage"];
type ToolCall = components["schemas"]["ToolCall"];

const maxShownCharacters = contract["x-limits"].shownSchemaCharacters.value;

/** The properties of the model that the translation needs. */
export interface ModelTraits {
  readonly metadata: EngineMetadata;
  readonly defaultReasoningEffort: NonNullable<ChatRequest["reasoning_effort"]>;
}

/**
 * Translates the allow-listed fields of a validated body into an engine request. Null means absent, and an absent field
 * gets the model's default. No other field reaches the engine.
 * @throws {ApiError} 400 if the model does not support a feature
 */
export function toEngineRequest(
  body: ChatRequest,
  text: BodyText,
  { metadata, defaultReasoningEffort }: ModelTraits,
  sender: Pick<RequestOrigin, "key" | "weight" | "requestId" | "traceparent">,
): EngineRequest {
  assertSupported(body, metadata);
  const tools = (body.tools ?? []).map(toFunctionTool);
  const format = toFormat(body.response_format);
  if (tools.length > 0 && !metadata.canCallTools) {
    throw new ApiError("unsupported_parameter", "This model cannot call tools.", { param: "tools" });
  }
  return {
    messages: body.messages.map(toEngineMessage),
    tools,
    toolChoice: toToolChoice(body, tools),
    parallelToolCalls: body.parallel_tool_calls ?? true,
    format,
    shownSchema: showSchema(format, metadata, maxShownCharacters),
    isWhole: body.stream !== true,
    isReasoning: metadata.canReason && (body.reasoning_effort ?? defaultReasoningEffort) !== "none",
    n: body.n ?? 1,
    seed: typeof body.seed === "number" ? text.sourceOf("seed") : undefined,
    sampling: toSampling(body, metadata),
    stop: typeof body.stop === "string" ? [body.stop] : (body.stop ?? []),
    origin: {
      ...sender,
      user: body.user ?? undefined,
      metadata: body.metadata ?? undefined,
      cacheKey: body.prompt_cache_key ?? undefined,
    },
    topLogprobs: body.logprobs ? (body.top_logprobs ?? 0) : undefined,
  };
}

/** Returns the maximum that applies; undefined if the request sets none. */
export function namedMaximum(body: ChatRequest): NamedMaximum | undefined {
  const name = typeof body.max_completion_tokens === "number" ? "max_completion_tokens" : "max_tokens";
  const tokens = body[name];
  return typeof tokens === "number" ? { name, tokens } : undefined;
}

/** Refuses a sampling parameter that the engine does not have, unless its value is the engine's default. */
function assertSupported(body: ChatRequest, { unsupportedSampling = [], samplingDefaults }: EngineMetadata): void {
  const refused = samplingNames.find(
    (name) => unsupportedSampling.includes(name) && (body[name] ?? samplingDefaults[name]) !== samplingDefaults[name],
  );
  if (refused === undefined) return;
  throw new ApiError("unsupported_parameter", `This model's engine has no ${refused}.`, { param: refused });
}

type Tool = NonNullable<ChatRequest["tools"]>[number];

function toFunctionTool({ function: { name, description, parameters, strict } }: Tool): FunctionTool {
  return {
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    isStrict: strict ?? undefined,
  };
}

function toToolChoice(
  { tool_choice: choice }: ChatRequest,
  tools: readonly FunctionTool[],
): EngineRequest["toolChoice"] {
  if (tools.length === 0 || choice === "none") return "none";
  if (choice === "required") return { oneOf: tools.map((tool) => tool.name) };
  return typeof choice === "object" && choice !== null ? { oneOf: [choice.function.name] } : "auto";
}

function toFormat(format: ChatRequest["response_format"]): EngineRequest["format"] {
  if (format?.type === "json_object") return { type: "json_object" };
  // Validation has checked that `schema` is a JSON Schema.
  return format?.type === "json_schema"
    ? { type: "json_schema", schema: format.json_schema.schema as Schema }
    : { type: "text" };
}

function toSampling(body: ChatRequest, metadata: EngineMetadata): Sampling {
  const values = samplingNames.map((name) => [name, body[name] ?? metadata.samplingDefaults[name]] as const);
  // `samplingNames` has exactly the other fields of Sampling.
  return { ...(Object.fromEntries(values) as Omit<Sampling, "logit_bias">), logit_bias: toLogitBias(body.logit_bias) };
}

/** Removes biases that are null. There may be thousands of biases, so they are copied only if one is null. */
function toLogitBias(biases: ChatRequest["logit_bias"]): Sampling["logit_bias"] {
  const given = biases ?? {};
  if (hasNoNull(given)) return given;
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, number] => entry[1] !== null));
}

const hasNoNull = (biases: Readonly<Record<string, number | null>>): biases is Sampling["logit_bias"] =>
  !Object.values(biases).includes(null);

/** Returns a message with only the fields that a model may see. Text parts are joined. */
function toEngineMessage(message: Message): Message {
  const { role, name } = message;
  const named = typeof name === "string" ? { name } : {};
  const content = textOf(message.content);
  if (role === "tool") return { role, content, tool_call_id: message.tool_call_id, ...named };
  if (role !== "assistant") return { role, content, ...named };
  const reasoning = message.reasoning ?? message.reasoning_content;
  const calls = message.tool_calls ?? [];
  return {
    role,
    content,
    ...named,
    ...(typeof reasoning === "string" && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(toEngineCall) }),
  };
}

const textOf = (content: Message["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text).join("");

const toEngineCall = ({ id, type, function: { name, arguments: text } }: ToolCall): ToolCall => ({
  id,
  type,
  function: { name, arguments: text },
});
