import { Ajv2020 } from "ajv/dist/2020.js";
import { unsupportedMembers } from "../../src/contract/contract.ts";
import { valueAt, isRecord, listAt, textAt } from "../../src/judge/read.ts";
import { wordsIn } from "./schema-words.ts";
import { fault } from "./violation.ts";
import type { Violation } from "./violation.ts";

type Body = Readonly<Record<string, unknown>>;

const ajv = new Ajv2020({ strict: false });
/** Checks the contract's rules across members, in the order of the members. `text` is the raw body, for the digits of a seed. */
export const dependencies: readonly ((body: Body, text: string) => Violation | undefined)[] = [
  ({ messages }) => {
    const list = Array.isArray(messages) ? messages : [];
    const index = list.findIndex(
      (one) =>
        valueAt(one, "/role") === "assistant" &&
        (valueAt(one, "/content") ?? null) === null &&
        listAt(one, "/tool_calls").length === 0,
    );
    const path = `messages[${index}].content`;
    return index < 0 ? undefined : fault("missing_required_parameter", path, `${path} is missing.`);
  },
  ({ seed }, text) => {
    if (typeof seed !== "number") return undefined;
    const written = /"seed"\s*:\s*([^,}\s]+)/.exec(text)?.[1] ?? "";
    if (!/^-?\d+$/.test(written)) return fault("invalid_type", "seed", "seed must be written with digits only.");
    const value = BigInt(written);
    return value > 2n ** 63n - 1n || value < -(2n ** 63n)
      ? fault("invalid_value", "seed", "seed is out of its range.")
      : undefined;
  },
  ({ top_logprobs: top, logprobs }) =>
    (top ?? null) !== null && logprobs !== true
      ? fault("invalid_value", "top_logprobs", "top_logprobs needs logprobs.")
      : undefined,
  ({ stream, stream_options: options }) =>
    (options ?? null) !== null && stream !== true
      ? fault("invalid_value", "stream_options", "stream_options needs stream.")
      : undefined,
  toolFault,
  ({ tool_choice: choice, tools }) => {
    const name = textAt(choice, "/function/name");
    if (choice !== "required" && name === undefined) return undefined;
    const names = (Array.isArray(tools) ? tools : []).map((tool) => valueAt(tool, "/function/name"));
    const isOffered = name === undefined ? names.length > 0 : names.includes(name);
    return isOffered ? undefined : fault("invalid_value", "tool_choice", "tool_choice names nothing that is offered.");
  },
  ({ response_format: format }) => {
    const path = "response_format.json_schema.schema";
    const schema = valueAt(format, "/json_schema/schema");
    return schema === undefined ? undefined : schemaFault(schema, path, true);
  },
  (body) => {
    const refused = ["functions", "function_call", "audio", "prediction", "web_search_options"];
    const name = refused.find((one) => (body[one] ?? null) !== null);
    return name === undefined ? undefined : fault("unsupported_parameter", name, `${name} is not supported.`);
  },
  (body) => {
    const name = unsupportedMembers.flatMap((one) => foreignPlaces(one, body))[0];
    return name === undefined ? undefined : fault("unsupported_parameter", name, `${name} is not supported.`);
  },
];

/** Finds a member of another service that would change the answer. */
function foreignPlaces({ member, harmless = [] }: (typeof unsupportedMembers)[number], body: Body): string[] {
  const name = member.replace("messages[].", "");
  const asks = (value: unknown): boolean => !harmless.includes(value) && !isEmpty(value);
  if (name === member) return asks(body[name]) ? [name] : [];
  return listAt(body, "/messages").flatMap((one, index) =>
    asks(valueAt(one, `/${name}`)) ? [`messages[${index}].${name}`] : [],
  );
}

function isEmpty(value: unknown): boolean {
  const members = isRecord(value) ? Object.values(value).filter((one) => one !== null) : value;
  return (members ?? "") === "" || (Array.isArray(members) && members.length === 0);
}

function toolFault({ tools }: Body): Violation | undefined {
  const list = Array.isArray(tools) ? tools : [];
  for (const [index, tool] of list.entries()) {
    const name = valueAt(tool, "/function/name");
    const path = `tools[${index}].function`;
    if (list.slice(0, index).some((other) => valueAt(other, "/function/name") === name))
      return fault("invalid_value", `${path}.name`, `${path}.name is used already.`);
    const parameters = valueAt(tool, "/function/parameters");
    const isStrict = valueAt(tool, "/function/strict") === true;
    const found = isRecord(parameters) ? schemaFault(parameters, `${path}.parameters`, isStrict) : undefined;
    if (found) return found;
  }
  return undefined;
}

function schemaFault(schema: unknown, path: string, isHeld: boolean): Violation | undefined {
  const [odd] = isHeld ? wordsIn(schema).filter(({ isUnenforceable }) => isUnenforceable) : [];
  if (odd !== undefined)
    return fault("invalid_schema", path, `${path} has the keyword ${odd.word}, which cannot be enforced.`);
  return isValidSchema(schema) ? undefined : fault("invalid_schema", path, `${path} is not a valid JSON Schema.`);
}

function isValidSchema(schema: unknown): boolean {
  try {
    const { $id: _, $schema: dialect, ...rest } = isRecord(schema) ? schema : {};
    // SDKs send the schemas of zod, which name an older dialect with the same keywords.
    ajv.compile(
      dialect === undefined || JSON.stringify(dialect).includes("draft-07") ? rest : { ...rest, $schema: dialect },
    );
    return true;
  } catch {
    return false;
  }
}
