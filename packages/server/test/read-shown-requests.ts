import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A request that a page, an example or a command shows. */
export interface ShownRequest {
  readonly title: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Returns every request that a reader may paste: the examples of the contract, JSON bodies on pages and in the output of
 * commands, and questions in code. For code that sends more than a question, this file has its request.
 */
export function readShownRequests(): ShownRequest[] {
  const examples = globSync("openapi/examples/request-*.json", { cwd: root }).toSorted();
  const pages = globSync(shownPages, { cwd: root }).toSorted();
  const said = new Set(pages.flatMap((path) => questionsIn(readFileSync(`${root}/${path}`, "utf8"))));
  return [
    ...examples.map((path) => ({
      title: basename(path, ".json"),
      body: JSON.parse(readFileSync(`${root}/${path}`, "utf8")) as ShownRequest["body"], // the contract's tests check that it is an object
    })),
    ...[...said].map((content) => ({ title: content, body: { messages: [{ role: "user", content }] } })),
    ...sentByCode,
  ];
}

const shownPages = [
  "README.md",
  "docs/{guides,examples}/**/*.*",
  "openapi/openapi.yaml",
  "packages/client/README.md",
  "packages/client/examples/*.*",
  "packages/server/src/cli/run-server.ts",
];

/** The text of a user's message, in JSON and in code. */
const questionsIn = (text: string): string[] =>
  [...text.matchAll(/"?role"?: "user"(?: as const)?, "?content"?: "([^"\\]+)"/g)].map(([, content = ""]) => content);

const gasTool = {
  type: "function",
  function: {
    name: "get_gas_price",
    description: "The price of gas on a chain, in gwei.",
    parameters: {
      type: "object",
      properties: { chain: { type: "string", enum: ["ethereum", "polygon"] } },
      required: ["chain"],
      additionalProperties: false,
    },
  },
};
const gasQuestion = { role: "user", content: "What does gas cost on Ethereum?" };
const gasCall = {
  id: "call_1",
  type: "function",
  function: { name: "get_gas_price", arguments: '{"chain":"ethereum"}' },
};

const assessment = {
  type: "object",
  properties: {
    risk: { type: "string", enum: ["low", "high"] },
    reasons: { type: "array", items: { type: "string" } },
  },
  required: ["risk", "reasons"],
  additionalProperties: false,
};

/** The requests of `packages/client/examples`: the two turns of the tool, and the schema. */
const sentByCode: readonly ShownRequest[] = [
  {
    title: "examples/structured-output.ts",
    body: {
      messages: [{ role: "user", content: "The bridge is not audited, and one key can drain it." }],
      response_format: { type: "json_schema", json_schema: { name: "assessment", schema: assessment } },
    },
  },
  {
    title: "examples/tools.ts, the call",
    body: { messages: [gasQuestion], tools: [gasTool], tool_choice: "required" },
  },
  {
    title: "examples/tools.ts, the answer",
    body: {
      messages: [
        gasQuestion,
        { role: "assistant", content: null, tool_calls: [gasCall] },
        { role: "tool", tool_call_id: "call_1", content: '{"chain":"ethereum","gwei":12}' },
      ],
      tools: [gasTool],
    },
  },
];
