import { EngineError } from "../engine.ts";
import type { EngineRequest, FunctionTool } from "../engine.ts";
import { compileParameters, compileSchema } from "../schema/compile-schema.ts";
import { anyObjectGrammar, answerGrammar, toolCallGrammar } from "../schema/to-gbnf.ts";
import type { CallableTool } from "../schema/to-gbnf.ts";
import { ComplexityBudget } from "../schema/complexity-budget.ts";

/** The structured-output constraints of one request, as GBNF. */
export interface Grammars {
  /** For the content, where the caller asked for JSON. */
  readonly contentGrammar: string | undefined;
  /** For the body of one tool call, where there are tools. */
  readonly toolGrammar: string | undefined;
}

/**
 * The grammars that enforce the schemas of a request's content and tool calls.
 * @throws {EngineError} `rejected` where a schema cannot be enforced although it must be
 */
export function compileGrammars(request: EngineRequest): Grammars {
  return { contentGrammar: contentGrammarOf(request.format), toolGrammar: toolGrammarOf(request) };
}

function contentGrammarOf(format: EngineRequest["format"]): string | undefined {
  if (format.type === "text") return undefined;
  if (format.type === "json_object") return anyObjectGrammar;
  const compiled = compileSchema(format.schema, "value", new ComplexityBudget());
  if ("rules" in compiled) return answerGrammar(compiled.rules);
  throw new EngineError("rejected", `The schema of the answer cannot be enforced: ${compiled.fault.reason}.`);
}

/** The budget for the schemas of all tools together: 128 tools with a budget each would take seconds. */
const toolSteps = 400_000;

/** Every call is constrained, strict or not: the name is one that was offered, and the arguments are at least a JSON object. */
function toolGrammarOf({ tools, tool_choice }: EngineRequest): string | undefined {
  if (tool_choice === "none" || tools.length === 0) return undefined;
  const offered = tool_choice === "auto" ? tools : tools.filter((tool) => tool_choice.oneOf.includes(tool.name));
  const budget = new ComplexityBudget(toolSteps);
  return toolCallGrammar(
    offered.map((tool, index) => toCallable(tool, index, tool_choice !== "auto" || tool.isStrict === true, budget)),
  );
}

function toCallable(
  { name, parameters }: FunctionTool,
  index: number,
  isBinding: boolean,
  budget: ComplexityBudget,
): CallableTool {
  if (parameters === undefined) return { name, parameters };
  const compiled = compileParameters(parameters, `tool-${index}`, budget);
  if ("rules" in compiled) return { name, parameters: compiled };
  if (!isBinding) return { name, parameters: "any" };
  throw new EngineError(
    "rejected",
    `The parameters of the function ${name} cannot be enforced: ${compiled.fault.reason}.`,
  );
}
