import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { read } from "./tree.ts";

/** Guides repeat numbers and lists of the contract for readers in a hurry. They must be the same. */

const guide = (name: string): string => read(`docs/guides/${name}.md`);
/** The contract's own tests check the shapes of its files. */
const contract = (path: string): unknown => parse(read(`openapi/${path}`));

/** Returns the cells of each row of the tables in a text. */
const rowsOf = (text: string): string[][] =>
  [...text.matchAll(/^\| (.+) \|$/gm)].map(([, row = ""]) => row.split(" | ").map((cell) => cell.trim()));

const codesIn = (text: string): string[] => Array.from(text.matchAll(/`([^`]+)`/g), ([, code = ""]) => code);

interface ChatRequestFile {
  readonly ChatCompletionRequest: {
    readonly properties: Readonly<Record<string, { maxItems?: number; maximum?: number; maxProperties?: number }>>;
  };
  readonly StopSequences: { readonly maxItems: number };
}

test("the guide of limits has the numbers of the contract", () => {
  const request = contract("schemas/chat-request.yaml") as ChatRequestFile;
  const { properties } = request.ChatCompletionRequest;
  const numbers = {
    messages: properties["messages"]?.maxItems,
    tools: properties["tools"]?.maxItems,
    n: properties["n"]?.maximum,
    stop: request.StopSequences.maxItems,
    top_logprobs: properties["top_logprobs"]?.maximum,
    metadata: properties["metadata"]?.maxProperties,
  };
  const page = guide("limits");
  for (const [name, number] of Object.entries(numbers))
    expect(page).toMatch(new RegExp(`\\| \`${name}\` +\\| ${number}\\b`));
});

test("the guide for other services has the replacements of the contract", () => {
  const refused = contract("schemas/unsupported-members.yaml") as readonly { member: string; use: string }[];
  const page = guide("coming-from-another-service").split("## From other services")[1] ?? "";
  const rows = [...page.matchAll(/^\| (`.+?) +\| (.+?) +\|$/gm)];
  expect(rows.length).toBeGreaterThan(5);
  for (const [, members = "", use = ""] of rows) {
    const [word = ""] = /(?<=`)\w+(?=`)|earlier messages/.exec(use) ?? [];
    for (const [member] of members.matchAll(/(?<=`)\w+(?=`)/g)) {
      expect([member, refused.find((entry) => entry.member === member)?.use]).toEqual([
        member,
        expect.stringContaining(word),
      ]);
    }
  }
});

describe("the guide of errors", () => {
  interface Entry {
    readonly status: number;
    readonly retry: { readonly helps: "never" | "after-wait" | "maybe" };
  }
  const { catalog } = contract("errors.yaml") as { readonly catalog: Readonly<Record<string, Entry>> };
  const rows = rowsOf(guide("errors")).filter(([status = ""]) => /^\d/.test(status));
  const words = { never: /^no:/, "after-wait": /^after /, maybe: /^yes/ } as const;

  test("has every status of the catalogue, with its codes", () => {
    const shown = rows.flatMap(([statuses = ""]) => statuses.split(", ").map(Number));
    const statuses = new Set(Object.values(catalog).map(({ status }) => status));
    expect(new Set(shown)).toEqual(statuses);
    for (const [statuses = "", codes = ""] of rows)
      for (const code of codesIn(codes))
        expect([code, statuses]).toEqual([code, expect.stringContaining(String(catalog[code]?.status))]);
  });

  test("says of each status whether a retry helps", () => {
    for (const [code, { status, retry }] of Object.entries(catalog)) {
      const [, , answer = ""] = rows.find(([statuses = ""]) => statuses.includes(String(status))) ?? [];
      expect([code, answer]).toEqual([code, expect.stringMatching(words[retry.helps])]);
    }
  });
});

test("the guide of structured output lists the keywords that are enforced everywhere", () => {
  const { JsonSchemaFormat } = contract("schemas/response-format.yaml") as {
    readonly JsonSchemaFormat: {
      readonly properties: { readonly schema: { readonly "x-json-schema": { readonly enforced: readonly string[] } } };
    };
  };
  const { enforced } = JsonSchemaFormat.properties.schema["x-json-schema"];
  const [, list = ""] = /enforced everywhere: ([^.]+)\./.exec(guide("structured-output")) ?? [];
  // `additionalItems` is the older name of a part of `items`.
  expect(codesIn(list)).toEqual(enforced.filter((word) => word !== "additionalItems"));
});

test("the guide of reasoning lists the efforts", () => {
  const { ReasoningEffort } = contract("schemas/chat-request.yaml") as {
    readonly ReasoningEffort: { readonly enum: readonly string[] };
  };
  const [, list = ""] = /`reasoning_effort` is one of ([^.]+)\./.exec(guide("reasoning")) ?? [];
  expect(codesIn(list)).toEqual(ReasoningEffort.enum);
});

test("the guide of tokens has the prices of the standard models, and computes with them", () => {
  const { data } = JSON.parse(read("openapi/examples/models.json")) as {
    readonly data: readonly { id: string; pricing: { prompt: string; completion: string } }[];
  };
  const rows = rowsOf(guide("tokens-and-cost")).filter(([model = ""]) => model.startsWith("`vendor/"));
  expect(rows).toEqual(
    data.map(({ id, pricing: { prompt, completion } }) => {
      const thousand = 1000 * (500 * Number(prompt) + 200 * Number(completion));
      return [`\`${id}\``, prompt, completion, thousand.toFixed(2)];
    }),
  );
});
