import { Ajv2020 } from "ajv/dist/2020.js";
import type { CompiledSchema, RequestSchemas } from "@parley/inference";
import { ApiError } from "../errors/api-error.ts";
import contract from "../generated/contract.json" with { type: "json" };
import type { BodyText } from "./body-text.ts";
import type { Field, Rules } from "./field-rules.ts";
import { isRecord } from "./schema.ts";

/** The contract's `x-dependencies`, each at its field. A JSON Schema in the body is checked and compiled once. */
export function dependenciesOf(body: unknown, text: BodyText, schemas: RequestSchemas): Rules {
  const root = isRecord(body) ? body : {};
  const judged = new Map<unknown, ApiError | undefined>();
  const once = (schema: unknown, judge: () => ApiError | undefined): ApiError | undefined => {
    if (!judged.has(schema)) judged.set(schema, judge());
    return judged.get(schema);
  };
  return {
    "messages[].content": checkContent,
    "messages[].audio": refuse,
    "messages[].function_call": refuse,
    seed: ({ value }) => (typeof value === "number" ? checkSeed(text.sourceOf("seed") ?? "") : undefined),
    top_logprobs: (field) => (root["logprobs"] === true ? undefined : needs(field, "logprobs")),
    stream_options: (field) => (root["stream"] === true ? undefined : needs(field, "stream")),
    "tools[].function.name": (field) => checkNameIsNew(field, root["tools"]),
    "tools[].function.parameters": ({ value, owner, path }) => {
      if (!isRecord(value)) return undefined;
      const isHeld = owner["strict"] === true || isForced(root["tool_choice"], owner["name"]);
      const compile = isHeld ? () => schemas.parameters(value, true) : undefined;
      return once(value, () => checkSchema(value, path, compile) ?? checkIsObject(value, path));
    },
    tool_choice: ({ value, path }) => checkToolChoice(value, root["tools"], path),
    "response_format.json_schema.schema": ({ value, path }) => {
      const format = root["response_format"];
      // Another type of format ignores a schema beside it.
      const isInForce = isRecord(value) && isRecord(format) && format["type"] === "json_schema";
      return isInForce ? once(value, () => checkSchema(value, path, () => schemas.answer(value))) : undefined;
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

/** A field that would change the answer, and that no schema of the contract admits but as null. */
function refuse({ value, path }: Field): ApiError | undefined {
  if (value === undefined || value === null) return undefined;
  return new ApiError("unsupported_parameter", `${path} is not supported here. Leave it out.`, { param: path });
}

function checkContent({ value, owner, path }: Field): ApiError | undefined {
  const { role, tool_calls: calls } = owner;
  const hasCalls = Array.isArray(calls) && calls.length > 0;
  if (role !== "assistant" || hasCalls || (value !== undefined && value !== null)) return undefined;
  return new ApiError("missing_required_parameter", `${path} is required where there are no tool_calls.`, {
    param: path,
  });
}

const { minimum: leastSeed, maximum: mostSeed } =
  contract.components.schemas.ChatCompletionRequest.properties.seed["x-exact-bounds"];

/** On the digits: a double cannot tell 2^63 from 2^63 − 1. */
function checkSeed(digits: string): ApiError | undefined {
  if (!/^-?\d+$/.test(digits))
    return new ApiError("invalid_type", "seed must be an integer, written with digits only.", { param: "seed" });
  const seed = BigInt(digits);
  const isInside = seed >= BigInt(leastSeed) && seed <= BigInt(mostSeed);
  return isInside ? undefined : invalid("seed", `seed must be from ${leastSeed} to ${mostSeed}.`);
}

/** The function that a choice or a tool names. It may come after the field that is judged, so it can be anything. */
function nameIn(value: unknown): string | undefined {
  const name = isRecord(value) && isRecord(value["function"]) ? value["function"]["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}

function checkNameIsNew({ value, owner, path }: Field, tools: unknown): ApiError | undefined {
  const first = Array.isArray(tools) ? tools.find((tool) => nameIn(tool) === value) : undefined;
  const isNew = !isRecord(first) || first["function"] === owner;
  return isNew ? undefined : invalid(path, `${path} is ${String(value)}, the name of an earlier tool.`);
}

const isForced = (choice: unknown, name: unknown): boolean =>
  choice === "required" || (name !== undefined && nameIn(choice) === name);

function checkToolChoice(choice: unknown, tools: unknown, path: string): ApiError | undefined {
  const name = nameIn(choice);
  if (choice !== "required" && name === undefined) return undefined;
  if (!Array.isArray(tools)) return invalid(path, `${path} asks for a call, and there are no tools.`);
  if (name === undefined || tools.some((tool) => nameIn(tool) === name)) return undefined;
  return invalid(path, `${path} names ${name}, which is not among the tools.`);
}

let metaSchema: Ajv2020 | undefined;

function checkSchema(
  schema: Record<string, unknown>,
  path: string,
  compile: (() => CompiledSchema) | undefined,
): ApiError | undefined {
  // Compiled on first use: most requests carry no schema.
  metaSchema ??= new Ajv2020({ strict: false, logger: false });
  // `$schema` may name any dialect; the schema is read as 2020-12.
  const { $schema: _dialect, ...plain } = schema;
  if (metaSchema.validateSchema(plain) !== true) {
    const [fault] = metaSchema.errors ?? [];
    return badSchema(path, `is not valid JSON Schema: ${fault?.instancePath || "its root"} ${fault?.message}`);
  }
  const compiled = compile?.();
  if (!compiled || !("fault" in compiled)) return undefined;
  const { fault } = compiled;
  return badSchema(path, `cannot be used: ${fault.reason}${fault.path && ` (at ${fault.path})`}`);
}

/** Arguments are always an object: a schema that excludes objects could never be satisfied. */
function checkIsObject({ type = "object" }: Record<string, unknown>, path: string): ApiError | undefined {
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object"));
  return isObject ? undefined : badSchema(path, `must describe an object: its "type" is ${JSON.stringify(type)}`);
}

const badSchema = (path: string, what: string): ApiError =>
  new ApiError("invalid_schema", `${path} ${what}.`, { param: path });
