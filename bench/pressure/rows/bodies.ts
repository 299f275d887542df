import { say, toBody } from "../ask.ts";
import { bodyRow } from "./body-rows.ts";

const withSchema = (schema: string): string =>
  `{"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":${schema}}},${rest()}`;
const rest = (): string => JSON.stringify(toBody({})).slice(1);
const list = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_none, index) => item(index)).join(",");

export const bodySubschemas = bodyRow({
  name: "body/subschemas",
  action: "4 MB with 1.39 M empty subschemas",
  body: () => withSchema(`{"anyOf":[${list(1_390_000, () => "{}")}]}`),
  statuses: [400],
});

export const bodyTextParts = bodyRow({
  name: "body/text-parts",
  action: "4 MB with 160,000 empty text parts",
  body: () => JSON.stringify(toBody(say(Array.from({ length: 160_000 }, () => ({ type: "text", text: "" }))))),
  statuses: [400],
});

export const bodySeedAndZeros = bodyRow({
  name: "body/seed-and-zeros",
  action: "a seed beside a list of 2 M zeros",
  body: () => `{"seed":12345678901234567,"zeros":[${list(2_000_000, () => "0")}],${rest()}`,
  statuses: [400],
});

export const bodySeedDigits = bodyRow({
  name: "body/seed-digits",
  action: "a seed of 4 M digits",
  body: () => `{"seed":${"7".repeat(4_100_000)},${rest()}`,
  statuses: [400],
});

export const bodyProperties = bodyRow({
  name: "body/properties",
  action: "a schema with 100,000 properties",
  body: () => withSchema(`{"type":"object","properties":{${list(100_000, (index) => `"p${index}":{}`)}}}`),
  statuses: [400],
});

/** The most expensive body that the bounds allow. */
export const bodyAtItsBounds = bodyRow({
  name: "body/at-its-bounds",
  action: "32,700 values: a schema with 30,000 properties",
  body: () => withSchema(`{"type":"object","properties":{${list(30_000, (index) => `"p${index}":{}`)}}}`),
  statuses: [400],
});

export const bodyMessages = bodyRow({
  name: "body/messages",
  action: "10,000 messages of 300 characters",
  body: () =>
    JSON.stringify(
      toBody({ messages: Array.from({ length: 10_000 }, () => ({ role: "user", content: "word ".repeat(60) })) }),
    ),
  statuses: [400],
});

export const bodyDeep = bodyRow({
  name: "body/deep",
  action: "4 MB of opening brackets",
  body: () => `{"a":${"[".repeat(4_190_000)}`,
  statuses: [400],
});

export const bodyTools = bodyRow({
  name: "body/tools",
  action: "128 tools with 60 parameters each, every one required",
  body: () => {
    const names = Array.from({ length: 60 }, (_none, index) => `parameter_${index}`);
    const properties = Object.fromEntries(
      names.map((name) => [name, { type: "string", maxLength: 200, description: "x" }]),
    );
    const parameters = { type: "object", properties, required: names, additionalProperties: false };
    const tools = Array.from({ length: 128 }, (_none, index) => ({
      type: "function",
      function: { name: `tool_${index}`, strict: true, parameters },
    }));
    return JSON.stringify(toBody({ tools, tool_choice: "required" }));
  },
  statuses: [200, 400],
});

export const bodyStops = bodyRow({
  name: "body/stops",
  action: "four stop strings of 64 KiB that the answer almost spells, streamed",
  body: () =>
    JSON.stringify(
      toBody({
        ...say("a ".repeat(2000)),
        stop: list(4, (index) => `${"a ".repeat(32_768)}${index}`).split(","),
        stream: true,
        max_tokens: 2000,
      }),
    ),
  statuses: [200, 400],
});

export const bodyBiases = bodyRow({
  name: "body/logit-bias",
  action: "30,000 entries in logit_bias",
  body: () => `{"logit_bias":{${list(30_000, (index) => `"${index}":1`)}},${rest()}`,
  statuses: [200, 400],
});

export const bodyNames = bodyRow({
  name: "body/unknown-members",
  action: "30,000 unknown members",
  body: () => `{${list(30_000, (index) => `"unknown_${index}_${"x".repeat(60)}":0`)},${rest()}`,
  statuses: [200, 400],
});
