import { EngineError } from "../engine.ts";
import type { EngineRequest, FunctionTool, Grammars } from "../engine.ts";
import type { EnforcedSchema } from "@parley/json-schema-grammar";
import type { RequestSchemas } from "../schemas/request-schemas.ts";
import { anyObjectGrammar, completeGrammar, toolCallGrammar } from "@parley/json-schema-grammar/complete-grammar";
import type { CallableTool } from "@parley/json-schema-grammar";

/** A tool and the schema that its grammar enforces, if any. */
interface Callable extends CallableTool {
  readonly parameters: EnforcedSchema | "any" | undefined;
}

type Constrained = Pick<EngineRequest, "format" | "tools" | "toolChoice">;

/**
 * The grammars that enforce the schemas of a request's content and tool calls.
 * @param schemas the schemas of the request; those that were compiled to validate it are not compiled again
 * @throws {EngineError} `rejected` where a schema cannot be enforced although it must be
 */
export function compileGrammars({ format, tools, toolChoice }: Constrained, schemas: RequestSchemas): Grammars {
  const callable = offeredIn(tools, toolChoice).map((tool) => toCallable(tool, toolChoice !== "auto", schemas));
  return {
    contentGrammar: contentGrammarOf(format, schemas),
    toolGrammar: callable.length === 0 ? undefined : toolCallGrammar(callable),
    enforcedTools: callable.filter(isEnforced).map(({ name }) => name),
  };
}

const isEnforced = ({ parameters }: Callable): boolean =>
  parameters === undefined || (parameters !== "any" && parameters.unenforced.length === 0);

function offeredIn(tools: readonly FunctionTool[], choice: EngineRequest["toolChoice"]): readonly FunctionTool[] {
  if (choice === "none") return [];
  return choice === "auto" ? tools : tools.filter((tool) => choice.oneOf.includes(tool.name));
}

function contentGrammarOf(format: EngineRequest["format"], schemas: RequestSchemas): string | undefined {
  if (format.type === "text") return undefined;
  if (format.type === "json_object") return anyObjectGrammar;
  const compiled = schemas.answer(format.schema);
  if ("rules" in compiled) return completeGrammar(compiled);
  throw new EngineError("rejected", `The schema of the answer cannot be enforced: ${compiled.fault.reason}.`);
}

/** Every call is constrained, strict or not: the name is one that was offered, and the arguments are at least a JSON object. */
function toCallable(
  { name, parameters, isStrict = false }: FunctionTool,
  isForced: boolean,
  schemas: RequestSchemas,
): Callable {
  if (parameters === undefined) return { name, parameters };
  const compiled = schemas.parameters(parameters, { isStrict, isForced });
  if ("rules" in compiled) return { name, parameters: compiled };
  if (!isStrict && !isForced) return { name, parameters: "any" };
  throw new EngineError(
    "rejected",
    `The parameters of the function ${name} cannot be enforced: ${compiled.fault.reason}.`,
  );
}
