import { jsLiteral } from "./literals.ts";
import { isObject } from "./schema.ts";
import type { Json, JsonObject } from "./schema.ts";

/** The names of the AI SDK for members of a request. */
const settings: Readonly<Record<string, string>> = {
  max_completion_tokens: "maxOutputTokens",
  max_tokens: "maxOutputTokens",
  temperature: "temperature",
  top_p: "topP",
  frequency_penalty: "frequencyPenalty",
  presence_penalty: "presencePenalty",
  seed: "seed",
};

/** Members that the SDK sets itself. */
const own = new Set(["model", "messages", "stream", "stream_options", "tools", "tool_choice", "stop"]);

/**
 * Returns a request as a program for Vercel's AI SDK. The SDK has other names and other forms for messages and tools.
 * `providerOptions` holds the members for which it has no name.
 */
export function aiSdkSample(request: JsonObject): string {
  const isStream = request["stream"] === true;
  const call = isStream ? "streamText" : "generateText";
  const tools = list(request["tools"]);
  const imports = [call, ...(tools.length > 0 ? ["jsonSchema", "tool"] : [])].toSorted();
  const rows = [`model: parley(${JSON.stringify(request["model"] ?? "")})`, ...callRows(request)];
  if (tools.length > 0) rows.push(`tools: {\n${tools.map((one) => toolRow(one)).join("")}  }`);
  const end = isStream
    ? "for await (const text of answer.textStream) process.stdout.write(text);"
    : "console.log(answer.text, answer.toolCalls, answer.usage);";
  return `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ${imports.join(", ")} } from "ai";

const parley = createOpenAICompatible({
  name: "parley",
  baseURL: process.env.PARLEY_URL,
  apiKey: process.env.PARLEY_KEY,
  includeUsage: true,
});
const answer = ${isStream ? "" : "await "}${call}({
${rows.map((row) => `  ${row},\n`).join("")}});
${end}
`;
}

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

function callRows(request: JsonObject): string[] {
  const messages = list(request["messages"]);
  const isInstruction = ({ role }: JsonObject): boolean => role === "system" || role === "developer";
  const instructions = messages.filter(isInstruction).map(({ content }) => textOf(content));
  const rows = instructions.length > 0 ? [`instructions: ${JSON.stringify(instructions.join("\n\n"))}`] : [];
  const others = messages.filter((message) => !isInstruction(message)).map((message) => toMessage(message, messages));
  rows.push(`messages: ${jsLiteral(others, "  ")}`);
  const rest: JsonObject = {};
  for (const [name, value] of Object.entries(request)) {
    const setting = settings[name];
    if (setting !== undefined) rows.push(`${setting}: ${jsLiteral(value, "  ")}`);
    else if (!own.has(name)) rest[name] = value;
  }
  const { stop, tool_choice: choice } = request;
  if (stop !== undefined && stop !== null) rows.push(`stopSequences: ${jsLiteral([stop].flat(), "  ")}`);
  if (choice !== undefined && choice !== null) rows.push(`toolChoice: ${jsLiteral(toChoice(choice), "  ")}`);
  if (Object.keys(rest).length > 0) rows.push(`providerOptions: ${jsLiteral({ parley: rest }, "  ")}`);
  return rows;
}

const toChoice = (choice: Json): Json => {
  const named = isObject(choice) ? choice["function"] : undefined;
  return isObject(named) ? { type: "tool", toolName: named["name"] ?? "" } : choice;
};

const textOf = (content: Json | undefined): string =>
  Array.isArray(content)
    ? list(content)
        .map((part) => text(part["text"]))
        .join("")
    : text(content);

function toMessage(message: JsonObject, messages: readonly JsonObject[]): JsonObject {
  const { role = "", content, tool_calls: calls, tool_call_id: id } = message;
  if (role === "tool") {
    const called = messages.flatMap((one) => list(one["tool_calls"])).find((one) => one["id"] === id);
    const output = { type: "text", value: textOf(content) };
    const result = { type: "tool-result", toolCallId: text(id), toolName: nameOf(called), output };
    return { role, content: [result] };
  }
  if (!Array.isArray(calls) || calls.length === 0) return { role, content: textOf(content) };
  const parts = list(calls).map((call) => {
    const input = isObject(call["function"]) ? text(call["function"]["arguments"]) : "";
    return { type: "tool-call", toolCallId: text(call["id"]), toolName: nameOf(call), input: parsed(input) };
  });
  const words = textOf(content);
  return { role, content: [...(words === "" ? [] : [{ type: "text", text: words }]), ...parts] };
}

function parsed(input: string): Json {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(input) as Json;
  } catch {
    return {};
  }
}

const nameOf = (call: JsonObject | undefined): string =>
  isObject(call?.["function"]) ? text(call["function"]["name"]) : "";

function toolRow(one: JsonObject): string {
  const { name, description, parameters, strict } = isObject(one["function"]) ? one["function"] : {};
  const about = description === undefined ? "" : `description: ${JSON.stringify(description)}, `;
  const schema = jsLiteral(parameters ?? { type: "object", properties: {} }, "      ");
  return `    ${JSON.stringify(text(name))}: tool({ ${about}inputSchema: jsonSchema(${schema})${strict === true ? ", strict: true" : ""} }),\n`;
}
