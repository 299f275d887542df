import { OpenAI } from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import { VERSION } from "openai/version";
import { z } from "zod";
import { argumentsOf, scoresOf, thrown } from "../outcome.ts";
import type { Outcome, SeenChoice } from "../outcome.ts";
import type { Job, Sdk } from "../sdk.ts";

type Params = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
type Usage = OpenAI.CompletionUsage | null | undefined;

/** OpenAI's SDK for Node. Only its base URL, its key and its time limit are set. */
export const openaiNode: Sdk = {
  name: "openai (Node)",
  version: VERSION,
  make,
  async [Symbol.asyncDispose]() {},
};

async function make({ baseUrl, key, call }: Job): Promise<Outcome | undefined> {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: key, timeout: call.timeoutSeconds * 1000 });
  const params = call.members as unknown as Params; // some are wrong by intention
  const { completions } = client.chat;
  switch (call.method) {
    case "list models":
      return { models: (await client.models.list()).data.map(({ id }) => id) };
    case "retrieve a model":
      return { models: [(await client.models.retrieve(call.id ?? "")).id] };
    case "chat":
      return ofCompletion(await completions.create(params));
    case "stream":
      return readStream(await completions.create({ ...params, stream: true }));
    case "collect":
      return ofCompletion(await completions.stream({ ...params, stream: true }).finalChatCompletion());
    case "parse": {
      const answer = z.object({ kind: z.enum(["sun", "moon"]) });
      const parsed = await completions.parse({ ...params, response_format: zodResponseFormat(answer, "answer") });
      return { parsed: parsed.choices[0]?.message.parsed };
    }
    case "tool loop": {
      const first = await completions.create(params);
      const [message] = first.choices.map((choice) => choice.message);
      const results = (message?.tool_calls ?? []).map(({ id }) => ({
        role: "tool" as const,
        tool_call_id: id,
        content: "Done.",
      }));
      const messages = [...params.messages, ...(message ? [message] : []), ...results];
      return ofCompletion(await completions.create({ ...params, messages, tool_choice: "auto" }));
    }
    case "leave": {
      const stream = await completions.create({ ...params, stream: true });
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
      return ofCompletion(await completions.create({ ...params, messages: [{ role: "user", content: "On." }] }));
    }
    case "embeddings":
      await client.embeddings.create({ model: "reference/toy", input: "x" });
      return {};
  }
}

const usageOf = (usage: Usage): readonly number[] | null =>
  usage ? [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens] : null;

function ofCompletion(completion: ChatCompletion): Outcome {
  const choices = completion.choices.map(({ message, finish_reason: finish, logprobs }): SeenChoice => ({
    text: message.content,
    finish,
    calls: (message.tool_calls ?? []).map((one) =>
      one.type === "function" ? [one.function.name, argumentsOf(one.function.arguments)] : [one.type, null],
    ),
    ...(logprobs?.content && { logprobs: scoresOf(logprobs.content) }),
  }));
  return { choices, usage: usageOf(completion.usage) };
}

/** Joins the events as the SDK's own guide does. */
async function readStream(stream: AsyncIterable<ChatCompletionChunk>): Promise<Outcome> {
  const texts = new Map<number, string>();
  const finishes = new Map<number, string>();
  const calls = new Map<number, Map<number, { name: string; text: string }>>();
  let usage: Usage;
  const outcome = (): Outcome => ({
    choices: [...texts].map(([index, text]) => ({
      text,
      finish: finishes.get(index) ?? null,
      calls: [...(calls.get(index)?.values() ?? [])].map((one) => [one.name, argumentsOf(one.text)] as const),
    })),
    usage: usageOf(usage),
  });
  try {
    for await (const chunk of stream) {
      usage = chunk.usage ?? usage;
      for (const { index, delta, finish_reason: finish } of chunk.choices) {
        texts.set(index, (texts.get(index) ?? "") + (delta.content ?? ""));
        if (finish) finishes.set(index, finish);
        for (const piece of delta.tool_calls ?? []) {
          const own = calls.get(index) ?? calls.set(index, new Map()).get(index);
          const known = own?.get(piece.index) ?? { name: "", text: "" };
          own?.set(piece.index, {
            name: known.name + (piece.function?.name ?? ""),
            text: known.text + (piece.function?.arguments ?? ""),
          });
        }
      }
    }
  } catch (error) {
    return { ...outcome(), ...thrown(error) };
  }
  return outcome();
}
