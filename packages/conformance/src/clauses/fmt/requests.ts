import type { Step } from "../../judge/check.ts";
import { mustBeHeld } from "../../judge/held-schema.ts";
import { contentOf } from "../../judge/read.ts";
import { chat, say } from "../../requests/chat-request.ts";
import type { Members } from "../../requests/chat-request.ts";
import { longText } from "../../requests/long-text.ts";
import { refusals } from "../../requests/refusals.ts";
import type { Case } from "../../requests/refusals.ts";

/** Every enforced keyword. Few values are allowed, so any model ends soon. */
export const listed = {
  type: "object",
  properties: {
    kind: { const: "r\u00e9sum\u00e9 \u{1f600}" },
    level: { enum: ["low", "high"] },
    count: { $ref: "#/$defs/digit" },
    other: { anyOf: [{ type: "null" }, { type: "boolean" }] },
  },
  required: ["kind", "level", "count", "other"],
  additionalProperties: false,
  $defs: { digit: { enum: [1, 2, 3] } },
};
const annotated = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "https://conformance.example/report",
  $comment: "c",
  title: "t",
  description: "d",
  default: {},
  examples: [{}],
  deprecated: false,
  ...listed,
};
/** No grammar can enforce these keywords: they compare a part of the value with another one. */
const unenforceable = (inner: Members): Members => ({ type: "object", properties: { a: inner }, required: ["a"] });
const repeating = unenforceable({ type: "string", pattern: "^([a-z]+)-\\1$" });
const unique = unenforceable({ type: "array", items: { enum: [0, 1, 2, 3, 4, 5] }, minItems: 6, uniqueItems: true });
/** A schema that is not valid, so no server can enforce it. */
const invalid = { type: "colour" };

/** Words that are not keywords, one of them misspelt. */
export const foreignWords = ["conformanceWord", "properties.a.maxLenght"] as const;
const withForeignWords = {
  type: "object",
  conformanceWord: 1,
  properties: { a: { type: "boolean", maxLenght: 3 } },
  required: ["a"],
};

export const schemaPath = "response_format.json_schema.schema";
export const format = (schema: unknown, more: Members = {}): Members => ({
  response_format: { type: "json_schema", json_schema: { name: "report", schema, ...more } },
});
const asked = { ...say("Report."), max_completion_tokens: 160 };
const wrong = (code: string, param: string) => ({ status: 400, code, param });
export const bad = (title: string, schema: unknown) => ({ title, members: format(schema) });

/** A server may enforce a keyword that most refuse. Then the content has to be valid. */
const badUnlessHeld = (title: string, schema: Members, says: RegExp): Case => ({
  ...bad(title, schema),
  want: { says },
  orKept: (answer) => mustBeHeld(answer, contentOf(answer), schema),
});

export const plans = refusals([
  {
    clause: "FMT-05",
    want: { status: 400, code: "missing_required_parameter" },
    sample: 2,
    cases: [
      {
        title: "no schema",
        members: { response_format: { type: "json_schema", json_schema: { name: "report" } } },
        want: { param: schemaPath },
      },
      {
        title: "no name",
        members: { response_format: { type: "json_schema", json_schema: { schema: listed } } },
        want: { param: "response_format.json_schema.name" },
      },
    ],
  },
  {
    clause: "FMT-06",
    want: wrong("invalid_value", "response_format.json_schema.name"),
    sample: 2,
    cases: [
      { title: "a name with a blank", members: format(listed, { name: "a b" }) },
      { title: "a name of 65 letters", members: format(listed, { name: "x".repeat(65) }) },
    ],
  },
  {
    clause: "FMT-09",
    want: { status: 400, code: "invalid_schema", param: schemaPath },
    sample: 2,
    cases: [
      badUnlessHeld("a pattern with a back-reference", repeating, /pattern/),
      badUnlessHeld("uniqueItems", unique, /uniqueItems/),
      { ...bad("$dynamicRef", unenforceable({ $dynamicRef: "#other" })), want: { says: /dynamicRef/ } },
    ],
  },
  {
    clause: "FMT-10",
    want: { status: 400, code: "invalid_schema" },
    sample: 2,
    cases: [
      bad("a type that is none", invalid),
      bad("required that is not a list", { type: "object", required: "a" }),
      bad("a reference to nothing", { $ref: "#/$defs/none" }),
    ],
  },
  {
    clause: "FMT-12",
    want: wrong("invalid_value", "response_format.type"),
    cases: [{ title: "an unknown type", members: { response_format: { type: "yaml" } } }],
  },
]);

const structured = (name: string, members: Members): Step => ({
  name,
  needs: ["models"],
  isValid: true,
  requests: (context) => [chat(context, { ...asked, ...members })],
});

/** One keyword each: all together would not show which one is not enforced. */
export const keywords: readonly (readonly [name: string, schema: Members])[] = [
  ["enum", { enum: ["only-this"] }],
  ["const", { const: { exactly: ["this", 1, null] } }],
  ["anyOf", { anyOf: [{ const: "one" }, { const: "other" }] }],
  ["$ref", { $ref: "#/$defs/word", $defs: { word: { enum: ["sun", "moon"] } } }],
  [
    "required",
    { type: "object", properties: { a: { type: "boolean" } }, required: ["a"], additionalProperties: false },
  ],
  [
    "items",
    {
      type: "object",
      properties: { list: { type: "array", items: { enum: [7] } } },
      required: ["list"],
      additionalProperties: false,
    },
  ],
  ["minimum and exclusiveMaximum", { type: "integer", minimum: 7, exclusiveMaximum: 9 }],
  ["minLength and maxLength", { type: "string", minLength: 1, maxLength: 4 }],
];

/** Numbers that a double would change, by the member that has to hold each. */
export const exactNumbers = { count: "9007199254740993", wei: "1000000000000000001" } as const;
const exactMembers = Object.entries(exactNumbers).map(([name, digits]) => `"${name}":{"const":${digits}}`);
const exactSchema = `{"type":"object","properties":{${exactMembers.join()}},"required":["count","wei"],"additionalProperties":false}`;

/** Schemas as text, of two values each: the format allows only the second. */
export const formats: readonly (readonly [format: string, schema: string, allowed: unknown])[] = [
  ["int32", '{"enum":[2147483648,7],"format":"int32"}', 7],
  ["int64", '{"enum":[9223372036854775808,8],"format":"int64"}', 8],
  ["byte", '{"enum":["Zg","Zg=="],"format":"byte"}', "Zg=="],
  ["float", '{"enum":[1e300,1.5],"format":"float"}', 1.5],
  ["byte, for a number", '{"enum":["Zg",9],"format":"byte"}', 9],
];
const rawFormat = (schema: string): string =>
  `"response_format":{"type":"json_schema","json_schema":{"name":"report","schema":${schema}}}`;

export const steps: readonly Step[] = [
  {
    name: "text format",
    needs: ["models"],
    isValid: true,
    requests: (context) => [chat(context, { response_format: { type: "text" } })],
  },
  structured("JSON object", {
    response_format: { type: "json_object" },
    ...say("Give me one small JSON object, such as {}."),
    max_completion_tokens: 48,
    temperature: 1.5,
    n: 8,
  }),
  structured("JSON by schema", format(listed, { strict: true })),
  structured("JSON by a loose schema", format(listed, { strict: false })),
  structured("JSON by schema, streamed", { ...format(listed), stream: true }),
  structured("JSON cut off by max tokens", {
    ...format({ const: longText }),
    max_completion_tokens: 3,
  }),
  structured("annotations", { ...format(annotated), max_completion_tokens: 1 }),
  structured("words that are not keywords", { ...format(withForeignWords), max_completion_tokens: 1 }),
  {
    name: "a bad schema, streamed and not",
    needs: ["models"],
    requests: (context) => [false, true].map((stream) => chat(context, { ...format(invalid), stream })),
  },
  {
    name: "numbers that a double would change",
    needs: ["models"],
    requests: (context) => [chat(context, asked, { raw: [rawFormat(exactSchema)] })],
  },
  {
    name: "formats of the OpenAPI registry",
    needs: ["models"],
    isValid: true,
    requests: (context) =>
      (context.profile.isExhaustive ? formats : formats.slice(0, 3)).map(([, schema]) =>
        chat(context, asked, { raw: [rawFormat(schema)] }),
      ),
  },
  {
    name: "keywords, one by one",
    needs: ["models"],
    requests: (context) =>
      (context.profile.isExhaustive ? keywords : keywords.slice(0, 4)).map(([, schema]) =>
        chat(context, { ...asked, ...format(schema) }),
      ),
  },
];
