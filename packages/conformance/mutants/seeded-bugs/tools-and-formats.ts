import { valueAt, isRecord, listAt, textAt } from "../../src/judge/read.ts";
import { exactNumbers } from "../../src/clauses/fmt/requests.ts";
import type { Body } from "../reference/answers.ts";
import type { Mutant } from "../reference/mutant.ts";
import { fault } from "../reference/violation.ts";
import { overlook, overlookCode, lastText, messagesOf, misjudge, strict, withChoices, withMessages } from "./mutate.ts";
import type { SeededBugs } from "./mutate.ts";

type Json = Record<string, unknown>;
const calls = (edit: (call: Json, body: Body, place: number) => Json): Mutant =>
  withMessages((message, body) => {
    const list = listAt(message, "/tool_calls");
    return list.length === 0
      ? message
      : { ...message, tool_calls: list.map((call, place) => edit(Object(call) as Json, body, place)) }; // calls are objects
  });
const withArguments = (edit: (text: string, body: Body) => string): Mutant =>
  calls((call, body) => ({
    ...call,
    function: { ...Object(call["function"]), arguments: edit(textAt(call, "/function/arguments") ?? "", body) },
  }));
const made = (name: string): Json => ({
  id: `call_${crypto.randomUUID()}`,
  type: "function",
  function: { name, arguments: "{}" },
});
const isCalled = (choice: Json): boolean => listAt(choice, "/message/tool_calls").length > 0;
const calling = (when: (body: Body) => boolean, name: string): Mutant =>
  withChoices((choice, body) =>
    when(body) && !isCalled(choice)
      ? {
          ...choice,
          finish_reason: "tool_calls",
          message: { ...Object(choice["message"]), content: null, tool_calls: [made(name)] },
        }
      : choice,
  );
const formOf = (body: Body): unknown => valueAt(body, "/response_format/type");
const contents = (edit: (text: string, body: Body) => string, isIt: (body: Body) => boolean): Mutant => ({
  ...withMessages((message, body) =>
    isIt(body) && typeof message["content"] === "string"
      ? { ...message, content: edit(message["content"], body) }
      : message,
  ),
});
const unformed = (isIt: (body: Body) => boolean): Mutant => ({
  generated: (body) => (isIt(body) ? { ...body, response_format: null } : body),
});
const isSchema = (body: Body): boolean => formOf(body) === "json_schema";
const isCutAt = (body: Body, maxTokens: number): boolean => body["max_completion_tokens"] === maxTokens;
const keywordsOf = (body: Body): string => JSON.stringify(valueAt(body, "/response_format/json_schema/schema") ?? {});

export const toolsAndFormats: SeededBugs = {
  "call-says-stop": withChoices((choice) =>
    choice["finish_reason"] === "tool_calls" ? { ...choice, finish_reason: "stop" } : choice,
  ),
  "none-still-calls": calling((body) => body["tool_choice"] === "none", "paint"),
  "required-ignored": {
    generated: (body) => (body["tool_choice"] === "required" ? { ...body, tool_choice: "auto" } : body),
  },
  "name-ignored": {
    generated: (body) => (isRecord(body["tool_choice"]) ? { ...body, tool_choice: "required" } : body),
  },
  "required-without-tools": overlook((found, body) => found.param === "tool_choice" && body["tools"] === undefined),
  "absent-name-accepted": overlook((found, body) => found.param === "tool_choice" && body["tools"] !== undefined),
  "name-pattern-unchecked": overlookCode("invalid_value", /^tools\[0\]\.function\.name$/),
  "repeated-name-accepted": overlookCode("invalid_value", /^tools\[1\]\.function\.name$/),
  "no-tools-accepted": overlookCode("invalid_value", /^tools$/),
  "bad-parameters-accepted": overlook(
    (found, body) =>
      found.code === "invalid_schema" &&
      String(found.param).startsWith("tools") &&
      !JSON.stringify(body["tools"]).includes("pattern"),
  ),
  "arguments-invented": withArguments((text, body) =>
    JSON.stringify(body["tools"]).includes("ping") ? '{"x":1}' : text,
  ),
  "parallel-ignored": withMessages((message, body) =>
    body["parallel_tool_calls"] === false
      ? { ...message, tool_calls: [...listAt(message, "/tool_calls"), made("paint")] }
      : message,
  ),
  "arguments-unheld": withArguments((text, body) =>
    body["tool_choice"] === "required" ? '{"colour":"beige","loud":true}' : text,
  ),
  "call-ids-repeated": calls((call) => ({ ...call, id: "call_1" })),
  "arguments-not-json": withArguments((text) => text.replaceAll('"', "'")),
  "streamed-arguments-cut": {
    stream: async function* (events) {
      let isCut = false;
      for await (const event of events) {
        const text =
          "data" in event ? (textAt(event.data, "/choices/0/delta/tool_calls/0/function/arguments") ?? "") : "";
        if (!isCut) yield event;
        else if (text === "") yield event;
        isCut ||= text.length > 1;
      }
    },
  },
  "cut-call-says-calls": withChoices((choice) =>
    choice["finish_reason"] === "length" && isCalled(choice) ? { ...choice, finish_reason: "tool_calls" } : choice,
  ),
  "cut-call-as-content": withChoices((choice) =>
    choice["finish_reason"] === "length" && isCalled(choice)
      ? { ...choice, message: { role: "assistant", refusal: null, content: "<tool_call>" } }
      : choice,
  ),
  "foreign-function-called": calls((call) => ({ ...call, function: { ...Object(call["function"]), name: "sing" } })),
  "forced-keyword-ignored": overlook(
    (found, body) => found.code === "invalid_schema" && JSON.stringify(body["tools"] ?? "").includes("pattern"),
  ),
  "free-keyword-refused": {
    violation: (found, body) =>
      found ??
      (JSON.stringify(body["tools"] ?? "").includes('"pattern"')
        ? fault("invalid_schema", "tools[0].function.parameters", "The keyword pattern cannot be enforced.")
        : undefined),
  },
  "tool-result-refused": strict(
    (body) =>
      messagesOf(body).length === 3 &&
      valueAt(messagesOf(body)[2], "/role") === "tool" &&
      valueAt(messagesOf(body)[2], "/content") === "Done.",
    400,
    "messages[2].role",
  ),
  "auto-refused": strict(
    (body) => Array.isArray(body["tools"]) && body["tool_choice"] === undefined,
    400,
    "tool_choice",
  ),
  "spelled-call-made": calling((body) => lastText(body).includes('<tool_call>\n{"name"'), "paint"),
  "other-tool-accepted": overlookCode("invalid_value", /^tools\[0\]\.type$/),

  "text-format-differs": {
    generated: (body) =>
      formOf(body) === "text" ? { ...body, messages: [{ role: "user", content: "Another question." }] } : body,
  },
  "json-object-unheld": contents(
    (text) => `Sure: ${text}`,
    (body) => formOf(body) === "json_object",
  ),
  "json-schema-unheld": contents(
    () => '{"kind":"other"}',
    (body) => isSchema(body) && valueAt(body, "/response_format/json_schema/strict") === true && !isCutAt(body, 3),
  ),
  "loose-schema-unheld": contents(
    () => '{"kind":"other"}',
    (body) => isSchema(body) && valueAt(body, "/response_format/json_schema/strict") === false,
  ),
  "schema-name-guessed": overlookCode("missing_required_parameter", /^response_format\.json_schema/),
  "schema-name-unchecked": overlookCode("invalid_value", /^response_format\.json_schema\.name$/),
  "listed-keyword-unheld": contents(
    () => '"sky"',
    (body) => isSchema(body) && keywordsOf(body).includes('"sun"'),
  ),
  "shown-schema-uncounted": {
    models: (records) =>
      records.map((one) => ({
        ...one,
        supported_features: [...listAt(one, "/supported_features"), "schema_in_prompt"],
      })),
  },
  "counted-schema-unlisted": {
    prompt: (count, body) => count + JSON.stringify(body["response_format"] ?? "").length,
  },
  "annotation-refused": {
    violation: (found, body) =>
      found ??
      (keywordsOf(body).includes('"$comment"')
        ? fault("invalid_schema", "response_format.json_schema.schema", "The keyword $comment cannot be enforced.")
        : undefined),
  },
  "keyword-ignored": overlook(
    (found, body) =>
      found.code === "invalid_schema" &&
      /"(?:pattern|uniqueItems|\$dynamicRef)"/.test(keywordsOf(body)) &&
      body["stream"] === undefined,
  ),
  "schema-number-rounded": { text: (text) => text.replaceAll(exactNumbers.wei, "1000000000000000000") },
  "registry-format-ignored": { text: (text) => text.replaceAll('"format":', '"title":') },
  "unknown-word-refused": {
    violation: (found, body) =>
      found ??
      (keywordsOf(body).includes('"conformanceWord"')
        ? fault("invalid_schema", "response_format.json_schema.schema", "conformanceWord is not a keyword.")
        : undefined),
  },
  "unknown-word-unnamed": {
    ignored: (names) => names.filter((name) => !name.startsWith("response_format.json_schema.schema.")),
  },
  "left-out-keyword-unnamed": { ignored: (names) => names.filter((name) => !name.endsWith(".pattern")) },
  "bad-schema-accepted": overlook(
    (found, body) => found.code === "invalid_schema" && /colour|"required":"a"|none/.test(keywordsOf(body)),
  ),
  "schema-path-missing": misjudge((found) => found.code === "invalid_schema", { param: null }),
  "unknown-format-ignored": overlookCode("invalid_value", /^response_format\.type$/),
  "bad-schema-in-stream": overlook((found, body) => found.code === "invalid_schema" && body["stream"] === true),
  "streamed-schema-unheld": unformed((body) => isSchema(body) && body["stream"] === true),
  "cut-json-says-stop": withChoices((choice, body) =>
    isSchema(body) && choice["finish_reason"] === "length" ? { ...choice, finish_reason: "stop" } : choice,
  ),
};
