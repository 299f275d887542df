import { listAt, textAt, valueAt } from "../../src/judge/read.ts";
import type { Body, Outgoing } from "../reference/answers.ts";
import type { Mutant } from "../reference/mutant.ts";
import {
  generated,
  lacking,
  overlookCode,
  strict,
  streamed,
  withChoices,
  withMessages,
  withPieces,
} from "../seeded-bugs/mutate.ts";
import { unseen } from "./fault.ts";
import type { UnseenFault } from "./fault.ts";

type Json = Record<string, unknown>;

const calls = (edit: (call: Json, place: number) => Json): Mutant =>
  withMessages((message) => {
    const list = listAt(message, "/tool_calls");
    return list.length === 0
      ? message
      : { ...message, tool_calls: list.map((call, place) => edit(call as Json, place)) }; // calls are objects
  });
const callPieces = (edit: (call: Json) => Json): Mutant =>
  withPieces((choice) => {
    const list = listAt(choice, "/delta/tool_calls");
    return list.length === 0 ? choice : { ...choice, delta: { tool_calls: list.map((call) => edit(call as Json)) } }; // calls are objects
  });
const withArguments = (edit: (text: string) => unknown): Mutant =>
  calls((call) => ({
    ...call,
    function: { ...Object(call["function"]), arguments: edit(textAt(call, "/function/arguments") ?? "") },
  }));
const fragments = (edit: (text: string) => readonly string[]): Mutant =>
  generated((event) =>
    event.kind === "tool" && event.id === undefined
      ? edit(event.arguments).map((text) => ({ ...event, arguments: text }))
      : [event],
  );
const argumentsOf = (event: Outgoing): string =>
  "data" in event ? (textAt(event.data, "/choices/0/delta/tool_calls/0/function/arguments") ?? "") : "";
const engineGets = (edit: (body: Body) => Body): Mutant => ({ generated: edit });
const contents = (edit: (text: string) => string, isIt: (body: Body) => boolean): Mutant =>
  withMessages((message, body) =>
    isIt(body) && typeof message["content"] === "string" ? { ...message, content: edit(message["content"]) } : message,
  );
const isFormed = (body: Body): boolean => String(valueAt(body, "/response_format/type")).startsWith("json");
const isSchema = (body: Body): boolean => valueAt(body, "/response_format/type") === "json_schema";

/** The pieces of arguments of a stream, changed as a list. */
const streamedArguments = (isKept: (text: string, place: number, count: number) => boolean): Mutant => ({
  stream: async function* (events) {
    const all: Outgoing[] = [];
    for await (const event of events) all.push(event);
    const count = all.filter((event) => argumentsOf(event) !== "").length;
    let place = 0;
    for (const event of all) {
      const text = argumentsOf(event);
      if (text === "") yield event;
      else if (isKept(text, place++, count)) yield event;
    }
  },
});

/** Faults of calls and structured answers. */
export const toolFaults: readonly UnseenFault[] = [
  unseen(
    "a streamed call that was cut says tool_calls",
    withPieces((choice, _place, body) =>
      choice["finish_reason"] === "length" && body["tools"] !== undefined
        ? { ...choice, finish_reason: "tool_calls" }
        : choice,
    ),
    "vllm-project/vllm#53269",
  ),
  unseen(
    "a call that was cut says tool_calls",
    withChoices((choice, body) =>
      choice["finish_reason"] === "length" && body["tools"] !== undefined
        ? { ...choice, finish_reason: "tool_calls" }
        : choice,
    ),
    "local-inference-lab/vllm#767",
  ),
  unseen(
    "streamed arguments end in the middle",
    streamedArguments((_text, place, count) => place < count - 1),
    "vllm-project/vllm#47761",
  ),
  unseen(
    "a piece of streamed arguments is lost",
    streamedArguments((_text, place) => place !== 1),
  ),
  unseen(
    "a piece of streamed arguments comes twice",
    streamed((data) => (typeof data !== "string" && argumentsOf({ data }) !== "" ? [data, data] : [data])),
    "vllm-project/vllm#38946",
  ),
  unseen(
    "streamed arguments begin with two braces",
    fragments((text) => (text.startsWith("{") ? [`{${text}`] : [text])),
    "mudler/LocalAI#9363",
  ),
  unseen(
    "each piece of a call has no index",
    callPieces((call) => lacking(call, "index")),
    "ollama/ollama#7881",
  ),
  unseen(
    "a streamed call has no id",
    callPieces((call) => lacking(call, "id")),
    "BerriAI/litellm#11262, continuedev/continue#13235",
  ),
  unseen(
    "later pieces have an empty id and name",
    callPieces((call) =>
      call["id"] === undefined ? { ...call, id: "", function: { name: "", ...Object(call["function"]) } } : call,
    ),
  ),
  unseen(
    "the index of streamed calls begins with 1",
    callPieces((call) => ({ ...call, index: 1 })),
    "BerriAI/litellm#11407",
  ),
  unseen(
    "a streamed call finishes with stop",
    withPieces((choice) => (choice["finish_reason"] === "tool_calls" ? { ...choice, finish_reason: "stop" } : choice)),
    "vllm-project/vllm#53270",
  ),
  unseen(
    "a call finishes with function_call",
    withChoices((choice) =>
      choice["finish_reason"] === "tool_calls" ? { ...choice, finish_reason: "function_call" } : choice,
    ),
  ),
  unseen(
    "arguments are an object",
    withArguments((text) => JSON.parse(text) as unknown),
  ),
  unseen(
    "arguments are encoded twice",
    withArguments((text) => JSON.stringify(text)),
  ),
  unseen(
    "arguments are in a fence",
    withArguments((text) => `\`\`\`json\n${text}\n\`\`\``),
  ),
  unseen(
    "arguments are empty where there are none",
    withArguments((text) => (text === "{}" ? "" : text)),
  ),
  unseen(
    "arguments have single quotes",
    withArguments((text) => text.replaceAll('"', "'")),
  ),
  unseen(
    "every call has the id call_0",
    calls((call) => ({ ...call, id: "call_0" })),
  ),
  unseen(
    "calls have no type",
    calls((call) => lacking(call, "type")),
  ),
  unseen(
    "a call has no id",
    calls((call) => lacking(call, "id")),
  ),
  unseen(
    "names have a prefix",
    calls((call) => ({
      ...call,
      function: { ...Object(call["function"]), name: `functions.${textAt(call, "/function/name")}` },
    })),
  ),
  unseen(
    "the call is in the content as markup",
    withChoices((choice) => {
      const [call] = listAt(choice, "/message/tool_calls");
      if (call === undefined) return choice;
      const { tool_calls: _, ...message } = Object(choice["message"]) as Json; // a message is an object
      return {
        ...choice,
        finish_reason: "stop",
        message: { ...message, content: `<tool_call>${JSON.stringify(valueAt(call, "/function"))}</tool_call>` },
      };
    }),
    "vllm-project/vllm#47903",
  ),
  unseen(
    "tool_choice is always auto",
    engineGets((body) => ({ ...body, tool_choice: "auto" })),
    "google-ai-edge/LiteRT-LM#2471",
  ),
  unseen(
    "a named choice is required only",
    engineGets((body) =>
      typeof body["tool_choice"] === "object" && body["tool_choice"] !== null
        ? { ...body, tool_choice: "required" }
        : body,
    ),
  ),
  unseen(
    "required without parallel calls makes two",
    withMessages((message, body) =>
      body["parallel_tool_calls"] === false
        ? {
            ...message,
            tool_calls: listAt(message, "/tool_calls").flatMap((call) => [call, { ...Object(call), id: "call_x" }]),
          }
        : message,
    ),
  ),
  unseen(
    "tools are refused in a stream",
    strict((body) => body["stream"] === true && Array.isArray(body["tools"])),
  ),
  unseen(
    "arguments ignore their schema",
    withArguments(() => '{"anything":1}'),
  ),
  unseen(
    "response_format is ignored",
    engineGets((body) => ({ ...body, response_format: null })),
    "waybarrios/vllm-mlx#538",
  ),
  unseen(
    "response_format is ignored in a stream",
    engineGets((body) => (body["stream"] === true ? { ...body, response_format: null } : body)),
  ),
  unseen(
    "a schema gives any JSON",
    engineGets((body) => (isSchema(body) ? { ...body, response_format: { type: "json_object" } } : body)),
    "waybarrios/vllm-mlx#635",
  ),
  unseen(
    "JSON is in a fence",
    contents((text) => `\`\`\`json\n${text}\n\`\`\``, isFormed),
  ),
  unseen(
    "JSON has a word in front",
    contents((text) => `Here is the JSON: ${text}`, isFormed),
  ),
  unseen(
    "JSON begins twice",
    contents((text) => `${text.slice(0, 8)}${text}`, isFormed),
    "MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark#24",
  ),
  unseen(
    "streamed JSON begins with two braces",
    withPieces((choice, _place, body) =>
      isFormed(body) && String(valueAt(choice, "/delta/content")).startsWith("{")
        ? { ...choice, delta: { content: `{${String(valueAt(choice, "/delta/content"))}` } }
        : choice,
    ),
    "mudler/LocalAI#9363",
  ),
  unseen(
    "a JSON object is an array",
    contents(
      (text) => `[${text}]`,
      (body) => valueAt(body, "/response_format/type") === "json_object",
    ),
    "waybarrios/vllm-mlx#635",
  ),
  unseen(
    "JSON that was cut is closed",
    contents((text) => `${text}"`, isSchema),
  ),
  unseen("an unknown format is text", overlookCode("invalid_value", /response_format/)),
  unseen(
    "the format text is refused",
    strict((body) => valueAt(body, "/response_format/type") === "text"),
  ),
  unseen(
    "a schema without strict is refused",
    strict((body) => isSchema(body) && valueAt(body, "/response_format/json_schema/strict") !== true),
  ),
  unseen("a bad schema is ignored", overlookCode("invalid_schema")),
  unseen("a bad schema is answered with 500", {
    violation: (found) =>
      found?.code === "invalid_schema" ? { ...found, status: 500, code: "internal_error" } : found,
  }),
  unseen(
    "one choice of several has the format",
    withChoices((choice, body) =>
      isFormed(body) && choice["index"] !== 0
        ? { ...choice, message: { ...Object(choice["message"]), content: "no" } }
        : choice,
    ),
  ),
];
