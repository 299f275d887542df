import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Output, generateText, jsonSchema, streamText, tool } from "ai";
import type { LanguageModelUsage, ModelMessage, Tool, ToolChoice } from "ai";
import { z } from "zod";
import type { Call } from "../calls.ts";
import { thrown } from "../outcome.ts";
import type { Outcome, SeenChoice } from "../outcome.ts";
import type { Job, Sdk } from "../sdk.ts";

type Json = Record<string, unknown>;
type Tools = Record<string, Tool>;

/** Vercel's AI SDK with its provider for compatible services. */
export const aiSdk = (version: string): Sdk => ({
  name: "ai + @ai-sdk/openai-compatible",
  version,
  make,
  async [Symbol.asyncDispose]() {},
});

/** It maps these itself; the provider adds all others to the body. */
const mapped = new Set(["model", "messages", "tools", "tool_choice", "response_format", "stream_options"]);

async function make(job: Job): Promise<Outcome | undefined> {
  const { method } = job.call;
  const settings = settingsFor(job);
  if (!settings) return undefined;
  if (method === "chat") return ofResult(await generateText(settings));
  if (method === "stream") return readStream(settings);
  if (method === "parse") {
    const schema = z.object({ kind: z.enum(["sun", "moon"]) });
    const { output } = await generateText({ ...settings, output: Output.object({ schema }) });
    return { parsed: output };
  }
  if (method === "tool loop") {
    const first = await generateText(settings);
    const results = first.toolCalls.map(({ toolCallId, toolName }) => ({
      type: "tool-result" as const,
      toolCallId,
      toolName,
      output: { type: "text" as const, value: "Done." },
    }));
    const messages = [...settings.messages, ...first.response.messages, { role: "tool" as const, content: results }];
    return ofResult(await generateText({ ...settings, messages, toolChoice: "auto" }));
  }
  return undefined;
}

function settingsFor({ baseUrl, key, call }: Job) {
  const messages = messagesOf(call);
  // It has no list of models, no choices besides the first, and shows no log-probabilities of this provider.
  if (!messages || call.members["n"] !== undefined || typeof call.members["temperature"] === "string") return undefined;
  const provider = createOpenAICompatible({
    name: "reference",
    baseURL: baseUrl,
    ...(key !== "" && { apiKey: key }),
    includeUsage: call.members["stream_options"] !== undefined,
    supportsStructuredOutputs: true,
  });
  const members = Object.fromEntries(Object.entries(call.members).filter(([name]) => !mapped.has(name)));
  const toolChoice = choiceOf(call.members["tool_choice"]);
  return {
    model: provider(String(call.members["model"])),
    messages,
    providerOptions: { reference: members as Record<string, never> }, // JSON
    abortSignal: AbortSignal.timeout(call.timeoutSeconds * 4000),
    ...(Array.isArray(call.members["tools"]) && { tools: toolsOf(call.members["tools"] as Json[]) }), // as the calls have them
    ...(toolChoice && { toolChoice }),
  };
}

function messagesOf({ members: { messages, response_format: format } }: Call): ModelMessage[] | undefined {
  const list = messages as readonly Json[]; // as the calls have them
  const isPlain = list.every(
    (one) => one["role"] === "user" && typeof one["content"] === "string" && one["name"] === undefined,
  );
  return isPlain && (format ?? undefined) === undefined
    ? list.map(({ content }) => ({ role: "user", content: String(content) }))
    : undefined;
}

const toolsOf = (list: readonly Json[]): Tools =>
  Object.fromEntries(
    list.map(({ function: own }) => {
      const { name, parameters = { type: "object", properties: {} } } = own as Json; // a function
      return [String(name), tool({ inputSchema: jsonSchema(parameters as object) })];
    }),
  );

function choiceOf(choice: unknown): ToolChoice<Tools> | undefined {
  if (choice === "required" || choice === "none") return choice;
  const name = (choice as { readonly function?: { readonly name: string } } | undefined)?.function?.name; // or a name
  return name === undefined ? undefined : { type: "tool", toolName: name };
}

interface Result {
  readonly text: string;
  readonly reasoningText: string | undefined;
  readonly finishReason: string;
  readonly toolCalls: readonly {
    readonly toolName: string;
    readonly input: unknown;
    readonly invalid?: boolean | undefined;
  }[];
  readonly usage: LanguageModelUsage;
}

function ofResult({ text, reasoningText, finishReason, toolCalls, usage }: Result): Outcome {
  const choice: SeenChoice = {
    text,
    finish: finishReason,
    ...(reasoningText !== undefined && { reasoning: reasoningText }),
    calls: toolCalls.map(({ toolName, input, invalid }) => [
      toolName,
      invalid === true ? `invalid: ${JSON.stringify(input)}` : input,
    ]),
  };
  return { choices: [choice], usage: countsOf(usage) };
}

/** The provider computes the last two from the details of the counts. */
const countsOf = ({
  inputTokens,
  outputTokens,
  totalTokens,
  inputTokenDetails,
  outputTokenDetails,
}: LanguageModelUsage) => [
  inputTokens,
  outputTokens,
  totalTokens,
  inputTokenDetails.noCacheTokens,
  outputTokenDetails.textTokens,
];

async function readStream(settings: NonNullable<ReturnType<typeof settingsFor>>): Promise<Outcome> {
  let failure: unknown;
  const result = streamText({
    ...settings,
    onError: ({ error }) => {
      failure ??= error;
    },
  });
  let text = "";
  for await (const piece of result.textStream) text += piece;
  if (failure !== undefined) return { choices: [{ text, finish: null }], ...thrown(failure) };
  return ofResult({
    text,
    reasoningText: await result.reasoningText,
    finishReason: await result.finishReason,
    toolCalls: await result.toolCalls,
    usage: await result.usage,
  });
}
