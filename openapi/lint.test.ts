import { describe, expect, test } from "vitest";
import { contractFolder, lint, lintBroken } from "./checks/redocly.ts";

const chat = "paths/chat-completions.yaml";
const body = "schemas/chat-request.yaml";
const message = "schemas/message.yaml";
const answer = "schemas/chat-completion.yaml";

/** A fault: title, file, a text in it, the replacement of the text, and the rule that has to find it. */
type Fault = [title: string, file: string, text: string, replacement: string, rule: string];

const ours: Fault[] = [
  ["a status is missing", chat, '"402": { $ref: ../responses.yaml#/PaymentRequired }', "", "operation-statuses"],
  ["a status cannot occur", "paths/models.yaml", '"401":', '"409":', "operation-statuses"],
  ["an operation is not listed", chat, "createChatCompletion", "createCompletion", "operation-statuses"],
  ["an answer has no example", "paths/model.yaml", "examples:", "x-nothing:", "body-example"],
  ["an error has no example", "responses.yaml", "examples:", "x-nothing:", "body-example"],
  [
    "a list of values in an answer does not say that it grows",
    answer,
    "x-may-grow: true",
    "x-nothing: 0",
    "answer-enum",
  ],
  [
    "a list of values in an event does not say so",
    "schemas/error.yaml",
    "x-may-grow: true",
    "x-nothing: 0",
    "answer-enum",
  ],
  ["a number has no maximum", body, "maximum: 2", "x-nothing: 0", "request-bounds"],
  ["a number has no minimum", body, "exclusiveMinimum: 0", "x-nothing: 0", "request-bounds"],
  ["an integer has no maximum", body, "maximum: 8", "x-nothing: 0", "request-bounds"],
  [
    "a text has no length",
    message,
    "maxLength: 4194304\n      description: The text.",
    "description: The",
    "request-bounds",
  ],
  ["a list has no size", body, "maxItems: 2048", "x-nothing: 0", "request-bounds"],
  ["an inner list has no size", "schemas/message.yaml", "maxItems: 65536", "x-nothing: 0", "request-bounds"],
  ["a map has no size", body, "maxProperties: 16", "x-nothing: 0", "request-bounds"],
  ["a parameter has no length", "parameters.yaml", "maxLength: 16384", "x-nothing: 0", "request-bounds"],
  ["a member refuses null", body, 'type: [boolean, "null"]', "type: boolean", "request-null"],
  [
    "a union refuses null",
    body,
    'ResponseFormat\n        - type: "null"',
    "ResponseFormat\n        - type: boolean",
    "request-null",
  ],
  [
    "a reference refuses null",
    message,
    'AuthorName:\n  type: [string, "null"]',
    "AuthorName:\n  type: string",
    "request-null",
  ],
  ["a member has a default", body, "maximum: 8\n", "maximum: 8\n      default: 1\n", "request-no-default"],
  ["a member has no description", "schemas/usage.yaml", "description: The sum", "x-note: The sum", "description"],
  [
    "a schema has no description",
    "schemas/usage.yaml",
    "description: Details of the generated",
    "x-note: Details of the generated",
    "description",
  ],
  [
    "a named array is in no union",
    message,
    'oneOf:\n    - { $ref: "#/TextContent" }',
    'anyOf:\n    - { $ref: "#/TextContent" }',
    "named-array",
  ],
  ["an answer is not described", "paths/models.yaml", "description: The models.", 'description: ""', "description"],
  ["a header has no description", "headers.yaml", "description: The methods", "x-note: The methods", "description"],
];

/** Rules of Redocly that are stricter here than in its own configuration. */
const theirs: Fault[] = [
  ["an answer has no request id", "paths/models.yaml", "x-request-id:", "x-other-id:", "response-contains-header"],
  ["an operation has no id", "paths/models.yaml", "operationId:", "x-id:", "operation-operationId"],
  ["an operation has two tags", chat, "tags: [Chat]", "tags: [Chat, Models]", "operation-singular-tag"],
  ["a tag is not defined", chat, "tags: [Chat]", "tags: [Chats]", "operation-tag-defined"],
  ["a reference leads nowhere", chat, "responses.yaml#/BadGateway", "responses.yaml#/BadGate", "no-unresolved-refs"],
  ["a keyword is misspelled", body, "minItems: 1", "minItem: 1", "struct"],
];

test("the contract passes", async () => {
  expect(await lint(contractFolder)).toEqual([]);
});

describe("our own rules find it when", () => {
  test.concurrent.each(ours)("%s", async (_title, file, text, replacement, rule) => {
    expect(new Set(await lintBroken(file, text, replacement))).toEqual(new Set([`parley/${rule}`]));
  });
});

describe("the rules of Redocly find it when", () => {
  test.concurrent.each(theirs)("%s", async (_title, file, text, replacement, rule) => {
    expect(await lintBroken(file, text, replacement)).toContain(rule);
  });
});
