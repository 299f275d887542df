import { nearestForm } from "@parley/json-schema-grammar/nearest-form";
import type { CompiledSchema, SchemaFault } from "@parley/json-schema-grammar";
import type { RequestSchemas } from "@parley/inference";
import { ApiError } from "../../errors/api-error.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { BodyText } from "./body-text.ts";
import type { Field, Rules } from "./field-rules.ts";
import { isRecord } from "@parley/common/is-record";
import { nameIn, useOfParameters } from "./schemas-in-body.ts";
import { useInstead } from "./unsupported-members.ts";

/** Returns the rules of the contract's `x-dependencies`, by field. A JSON Schema in the body is checked only once. */
export function dependenciesOf(body: unknown, text: BodyText, schemas: RequestSchemas): Rules {
  const root = isRecord(body) ? body : {};
  const judged = new Map<unknown, ApiError | undefined>();
  const once = (schema: unknown, judge: () => ApiError | undefined): ApiError | undefined => {
    if (!judged.has(schema)) judged.set(schema, judge());
    return judged.get(schema);
  };
  return {
    "messages[].content": checkContent,
    "messages[].audio": refuseOfAssistant,
    "messages[].function_call": refuseOfAssistant,
    seed: ({ value }) => (typeof value === "number" ? checkSeed(text.sourceOf("seed") ?? "") : undefined),
    top_logprobs: (field) => (root["logprobs"] === true ? undefined : needs(field, "logprobs")),
    stream_options: (field) => (root["stream"] === true ? undefined : needs(field, "stream")),
    "tools[].function.name": (field) => checkNameIsNew(field, root["tools"]),
    "tools[].function.parameters": ({ value, owner, path }) => {
      if (!isRecord(value)) return undefined;
      const use = useOfParameters(owner, root["tool_choice"]);
      const isBinding = use.isStrict || use.isForced;
      return once(
        value,
        () => checkParameters(schemas.parameters(value, use), isBinding, path) ?? checkIsObject(value, path),
      );
    },
    tool_choice: ({ value, path }) => checkToolChoice(value, root["tools"], path),
    "response_format.json_schema.schema": ({ value, path }) => {
      const format = root["response_format"];
      // Other types of `response_format` ignore the schema.
      const isInForce = isRecord(value) && isRecord(format) && format["type"] === "json_schema";
      return isInForce ? once(value, () => checkCompiled(schemas.answer(value), path)) : undefined;
    },
    functions: refuse,
    function_call: refuse,
    audio: refuse,
    prediction: refuse,
    web_search_options: refuse,
  };
}

const invalid = (path: string, message: string): ApiError => new ApiError("invalid_value", message, { param: path });

function needs({ value, path }: Field, other: string): ApiError | undefined {
  return value === undefined || value === null ? undefined : invalid(path, `${path} needs ${other} to be true.`);
}

/** Refuses a field that would change the answer. The contract only allows null for it. */
function refuse({ value, path }: Field): ApiError | undefined {
  if (value === undefined || value === null) return undefined;
  const message = `${path} is not supported here. ${useInstead(path)}`;
  return new ApiError("unsupported_parameter", message, { param: path });
}

/** Refuses a field of assistant messages. In messages of other roles it is ignored, like any unknown field. */
const refuseOfAssistant = (field: Field): ApiError | undefined =>
  field.owner["role"] === "assistant" ? refuse(field) : undefined;

function checkContent({ value, owner, path }: Field): ApiError | undefined {
  const { role, tool_calls: calls } = owner;
  const isGiven = value !== undefined && value !== null;
  // If `tool_calls` is not a list, that is a separate fault, which is reported after this field.
  const hasCalls = Array.isArray(calls) ? calls.length > 0 : calls !== undefined && calls !== null;
  if (role !== "assistant" || hasCalls || isGiven) return undefined;
  return new ApiError("missing_required_parameter", `${path} is required where there are no tool_calls.`, {
    param: path,
  });
}

const { minimum: minSeed, maximum: maxSeed } =
  contract.components.schemas.ChatCompletionRequest.properties.seed["x-exact-bounds"];

/**
 * A seed with more characters exceeds the bounds. It is not parsed, because the time of `BigInt` grows with the square of
 * the digits, of which there may be millions.
 */
const maxSeedCharacters = Math.max(minSeed.length, maxSeed.length);

/** Checks the digits of a seed, because 2^63 and 2^63 − 1 are the same double. */
function checkSeed(digits: string): ApiError | undefined {
  if (!/^-?\d+$/.test(digits))
    return new ApiError("invalid_type", "seed must be an integer, written with digits only.", { param: "seed" });
  const isInside =
    digits.length <= maxSeedCharacters && BigInt(digits) >= BigInt(minSeed) && BigInt(digits) <= BigInt(maxSeed);
  return isInside ? undefined : invalid("seed", `seed must be from ${minSeed} to ${maxSeed}.`);
}

function checkNameIsNew({ value, owner, path }: Field, tools: unknown): ApiError | undefined {
  const first = Array.isArray(tools) ? tools.find((tool) => nameIn(tool) === value) : undefined;
  const isNew = !isRecord(first) || first["function"] === owner;
  return isNew ? undefined : invalid(path, `${path} is ${String(value)}, the name of an earlier tool.`);
}

function checkToolChoice(choice: unknown, tools: unknown, path: string): ApiError | undefined {
  const name = nameIn(choice);
  if (choice !== "required" && name === undefined) return undefined;
  if (!Array.isArray(tools)) return invalid(path, `${path} asks for a call, and there are no tools.`);
  if (name === undefined || tools.some((tool) => nameIn(tool) === name)) return undefined;
  return invalid(path, `${path} names ${name}, which is not among the tools.`);
}

/** Checks the parameters of a function. If they are not binding, any well-formed JSON Schema is accepted. */
function checkParameters(compiled: CompiledSchema, isBinding: boolean, path: string): ApiError | undefined {
  const isAccepted = !isBinding && "fault" in compiled && compiled.kind !== "malformed";
  return isAccepted ? undefined : checkCompiled(compiled, path);
}

const checkCompiled = (compiled: CompiledSchema, path: string): ApiError | undefined =>
  "fault" in compiled ? badSchema(path, compiled.fault) : undefined;

/** Refuses a schema that excludes objects. Arguments are always an object, so it could never be satisfied. */
function checkIsObject({ type = "object" }: Record<string, unknown>, path: string): ApiError | undefined {
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object"));
  if (isObject) return undefined;
  return badSchema(path, {
    path: "type",
    keyword: "type",
    reason: `it must describe an object, and its "type" is ${JSON.stringify(type)}`,
  });
}

function badSchema(param: string, { path, keyword, reason }: SchemaFault): ApiError {
  const name = keyword === null || reason.includes(`"${keyword}"`) ? "" : `"${keyword}": `;
  const place = path === "" ? "" : ` (at ${path})`;
  const instead = nearestForm(keyword);
  const hint = instead === undefined ? "" : ` Instead, use ${instead}.`;
  return new ApiError("invalid_schema", `${param} cannot be used: ${name}${reason}${place}.${hint}`, { param });
}
