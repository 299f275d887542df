import { listAt, numberAt, textAt } from "../../src/judge/read.ts";
import type { Body } from "../reference/answers.ts";
import { completed, lacking, messagesOf, withChoices, withMessages, withUsage } from "../seeded-bugs/mutate.ts";
import { unseen } from "./fault.ts";
import type { UnseenFault } from "./fault.ts";

type Json = Record<string, unknown>;

const finishing = (from: string, to: unknown): ReturnType<typeof withChoices> =>
  withChoices((choice) => (choice["finish_reason"] === from ? { ...choice, finish_reason: to } : choice));
const contents = (edit: (text: string, body: Body) => unknown): ReturnType<typeof withMessages> =>
  withMessages((message, body) =>
    typeof message["content"] === "string" ? { ...message, content: edit(message["content"], body) } : message,
  );
const counting = (
  edit: (prompt: number, completion: number) => readonly [number, number],
): ReturnType<typeof withUsage> =>
  withUsage((usage) => {
    const [prompt, completion] = edit(numberAt(usage, "/prompt_tokens"), numberAt(usage, "/completion_tokens"));
    return { ...usage, prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  });

/** Faults of answers in one body. */
export const answerFaults: readonly UnseenFault[] = [
  unseen(
    "an answer that was cut says stop",
    finishing("length", "stop"),
    "ggml-org/llama.cpp#8894, mudler/LocalAI#3533",
  ),
  unseen("an answer that ended says length", finishing("stop", "length")),
  unseen("finish_reason has the engine's word eos_token", finishing("stop", "eos_token")),
  unseen("finish_reason max_tokens instead of length", finishing("length", "max_tokens")),
  unseen("finish_reason is null in a whole answer", finishing("length", null)),
  unseen(
    "no id",
    completed((json) => lacking(json, "id")),
    "mudler/LocalAI#1103",
  ),
  unseen(
    "no created",
    completed((json) => lacking(json, "created")),
    "mudler/LocalAI#1103",
  ),
  unseen(
    "an empty id",
    completed((json) => ({ ...json, id: "" })),
    "huggingface/text-generation-inference#2336",
  ),
  unseen(
    "the id is drawn from a thousand",
    completed((json) => ({ ...json, id: `chatcmpl-${Math.floor(Math.random() * 20)}` })),
    "ollama/ollama#5312",
  ),
  unseen(
    "every answer has one id",
    completed((json) => ({ ...json, id: "chatcmpl-1" })),
  ),
  unseen(
    "usage is zero",
    counting(() => [0, 0]),
    "mudler/LocalAI#3436",
  ),
  unseen(
    "no usage",
    completed((json) => lacking(json, "usage")),
  ),
  unseen(
    "usage is null",
    completed((json) => ({ ...json, usage: null })),
  ),
  unseen(
    "usage counts the token that ends the text",
    counting((prompt, completion) => [prompt, completion + 1]),
  ),
  unseen(
    "usage counts the first choice only",
    withUsage((usage, body) => {
      const n = typeof body["n"] === "number" ? body["n"] : 1;
      const completion = Math.ceil(numberAt(usage, "/completion_tokens") / n);
      return { ...usage, completion_tokens: completion, total_tokens: numberAt(usage, "/prompt_tokens") + completion };
    }),
  ),
  unseen(
    "the prompt is counted once for each choice",
    withUsage((usage, body) => {
      const prompt = numberAt(usage, "/prompt_tokens") * (typeof body["n"] === "number" ? body["n"] : 1);
      return { ...usage, prompt_tokens: prompt, total_tokens: prompt + numberAt(usage, "/completion_tokens") };
    }),
  ),
  unseen(
    "counts are strings",
    withUsage((usage) =>
      Object.fromEntries(
        Object.entries(usage).map(([name, value]) => [name, typeof value === "number" ? String(value) : value]),
      ),
    ),
  ),
  unseen(
    "total_tokens is the completion's",
    withUsage((usage) => ({ ...usage, total_tokens: usage["completion_tokens"] })),
  ),
  unseen(
    "created in milliseconds",
    completed((json) => ({ ...json, created: Number(json["created"]) * 1000 })),
  ),
  unseen(
    "created with a fraction",
    completed((json) => ({ ...json, created: Number(json["created"]) + 0.25 })),
  ),
  unseen(
    "created is when the server started",
    completed((json) => ({ ...json, created: 1_751_328_000 })),
  ),
  unseen(
    "the model is the path of its file",
    completed((json) => ({ ...json, model: "/models/toy-q4_k_m.gguf" })),
  ),
  unseen(
    "the model is named gpt-3.5-turbo",
    completed((json) => ({ ...json, model: "gpt-3.5-turbo" })),
  ),
  unseen(
    "object is text_completion",
    completed((json) => ({ ...json, object: "text_completion" })),
  ),
  unseen(
    "content is a list of parts",
    contents((text) => [{ type: "text", text }]),
  ),
  unseen(
    "content is null",
    contents(() => null),
    "BerriAI/litellm",
  ),
  unseen(
    "content is missing",
    withMessages((message) => lacking(message, "content")),
    "mudler/LocalAI#605",
  ),
  unseen(
    "content is trimmed",
    contents((text) => text.trim()),
  ),
  unseen(
    "content repeats the prompt",
    contents((text, body) => `${textAt(messagesOf(body).at(-1), "/content") ?? ""}${text}`),
    "jekalmin/extended_openai_conversation#85",
  ),
  unseen(
    "a long answer is cut without a word",
    contents((text) => text.slice(0, 40)),
  ),
  unseen(
    "the end-of-turn token is in the text",
    contents((text) => `${text}<|im_end|>`),
    "continuedev/continue#1152",
  ),
  unseen(
    "characters beyond ASCII become question marks",
    contents((text) => text.replaceAll(/[^\0-\u007f]/gu, "?")),
  ),
  unseen(
    "no role",
    withMessages((message) => lacking(message, "role")),
  ),
  unseen(
    "the role is bot",
    withMessages((message) => ({ ...message, role: "bot" })),
  ),
  unseen(
    "indexes begin with 1",
    withChoices((choice) => ({ ...choice, index: Number(choice["index"]) + 1 })),
  ),
  unseen(
    "every choice has the index 0",
    withChoices((choice) => ({ ...choice, index: 0 })),
  ),
  unseen(
    "choices come backwards",
    completed((json) => ({ ...json, choices: listAt(json, "/choices").toReversed() })),
  ),
  unseen(
    "a fingerprint of its own for each answer",
    completed((json) => ({ ...json, system_fingerprint: `fp_${Math.random()}` })),
  ),
  unseen(
    "reasoning stays in the content",
    withMessages((message) => {
      const { reasoning, reasoning_content: _, ...rest } = message;
      return typeof reasoning === "string"
        ? { ...rest, content: `<think>${reasoning}</think>${String(message["content"])}` }
        : message;
    }),
    "kekzl/imp#793, sgl-project/sglang#36285",
  ),
  unseen(
    "only the closing tag of reasoning is left",
    withMessages((message) => {
      const { reasoning, reasoning_content: _, ...rest } = message;
      return typeof reasoning === "string"
        ? { ...rest, content: `${reasoning}</think>${String(message["content"])}` }
        : message;
    }),
    "sgl-project/sglang#36285",
  ),
  unseen(
    "reasoning is dropped and not counted",
    completed((json) => {
      const usage = json["usage"] as Json; // a whole answer has its usage
      return {
        ...json,
        usage: { ...usage, completion_tokens_details: { reasoning_tokens: 0 } },
        choices: listAt(json, "/choices").map((choice) => {
          const { message, ...others } = choice as { message: Json }; // its choices have messages
          const { reasoning: _, reasoning_content: __, ...rest } = message;
          return { ...others, message: rest };
        }),
      };
    }),
  ),
];
