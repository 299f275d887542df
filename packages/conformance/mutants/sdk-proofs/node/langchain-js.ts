import { ChatOpenAI } from "@langchain/openai";
import type { AIMessageChunk, BaseMessageLike } from "@langchain/core/messages";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { concat } from "@langchain/core/utils/stream";
import { z } from "zod";
import { scoresOf, thrown } from "../outcome.ts";
import type { Outcome, SeenChoice } from "../outcome.ts";
import type { Job, Sdk } from "../sdk.ts";

/** LangChain's integration for JavaScript. */
export const langchainJs = (version: string): Sdk => ({
  name: "@langchain/openai",
  version,
  make,
  async [Symbol.asyncDispose]() {},
});

/** It sets these itself. */
const own = new Set(["model", "messages", "n", "stream_options", "logprobs"]);

async function make({ baseUrl, key, call }: Job): Promise<Outcome | undefined> {
  const { members, method, timeoutSeconds } = call;
  const others = Object.entries(members).filter(([name, value]) => !own.has(name) && value !== undefined);
  const model = new ChatOpenAI({
    model: String(members["model"]),
    apiKey: key,
    timeout: timeoutSeconds * 1000,
    maxRetries: 1,
    useResponsesApi: false,
    streamUsage: members["stream_options"] !== undefined,
    configuration: { baseURL: baseUrl },
    modelKwargs: Object.fromEntries(others),
    ...(typeof members["n"] === "number" && { n: members["n"] }),
    ...(members["logprobs"] === true && { logprobs: true }),
  });
  const messages = members["messages"] as BaseMessageLike[]; // in OpenAI's form, which it takes
  switch (method) {
    case "chat": {
      const { generations } = await model.generate([messages]);
      const answers = (generations[0] ?? []).flatMap((one) =>
        "message" in one ? [one.message as AIMessageChunk] : [],
      ); // of a chat model
      return { choices: answers.map(choiceOf), usage: usageOf(answers[0]) };
    }
    case "stream":
      return readStream(model, messages);
    case "parse": {
      const schema = z.object({ kind: z.enum(["sun", "moon"]) });
      const { response_format: _, ...rest } = Object.fromEntries(others);
      model.modelKwargs = rest;
      return { parsed: await model.withStructuredOutput(schema, { method: "jsonSchema" }).invoke(messages) };
    }
    case "tool loop": {
      const first = await model.invoke(messages);
      const results = (first.tool_calls ?? []).map(
        ({ id }) => new ToolMessage({ content: "Done.", tool_call_id: id ?? "" }),
      );
      model.modelKwargs = { ...model.modelKwargs, tool_choice: "auto" };
      const last = await model.invoke([new HumanMessage("Paint it."), first, ...results]);
      return { choices: [choiceOf(last)], usage: usageOf(last) };
    }
    case "list models":
    case "retrieve a model":
    case "collect":
    case "leave":
    case "embeddings":
      return undefined;
  }
}

const usageOf = (message: AIMessageChunk | undefined): readonly number[] | null => {
  // The integration fills it so; LangChain's own generic types lose it.
  const usage = message?.usage_metadata as
    | Readonly<Record<`${"input" | "output" | "total"}_tokens`, number>>
    | undefined;
  return usage ? [usage.input_tokens, usage.output_tokens, usage.total_tokens] : null;
};

function choiceOf(message: AIMessageChunk): SeenChoice {
  const { finish_reason: finish, logprobs } = message.response_metadata as {
    readonly finish_reason?: string;
    readonly logprobs?: { readonly content?: Parameters<typeof scoresOf>[0] };
  }; // as this integration fills it
  const reasoning = message.additional_kwargs["reasoning_content"];
  return {
    text: message.text,
    finish: finish ?? null,
    ...(typeof reasoning === "string" && { reasoning }),
    calls: [
      ...(message.tool_calls ?? []).map(({ name, args }) => [name, args] as const),
      ...(message.invalid_tool_calls ?? []).map(({ name, args }) => [`invalid: ${name}`, args] as const),
    ],
    ...(logprobs?.content && { logprobs: scoresOf(logprobs.content) }),
  };
}

async function readStream(model: ChatOpenAI, messages: BaseMessageLike[]): Promise<Outcome> {
  let whole = undefined as AIMessageChunk | undefined; // the loop below sets it, which the compiler does not see
  const outcome = (): Outcome => ({ choices: whole ? [choiceOf(whole)] : [], usage: usageOf(whole) });
  try {
    for await (const chunk of await model.stream(messages)) whole = whole ? concat(whole, chunk) : chunk;
  } catch (error) {
    return { ...outcome(), ...thrown(error) };
  }
  return outcome();
}
