import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// Code of a partner that uses the generated types, with errors that the compiler has to report.
const partner = `
import type { components, operations } from "./contract.ts";

type Schemas = components["schemas"];
type Answers = operations["createChatCompletion"]["responses"];

const call = { id: "1", type: "function" as const, function: { name: "f", arguments: "{}" } };

export const request: Schemas["ChatCompletionRequest"] = {
  model: "vendor/model-1",
  messages: [
    { role: "system", content: "Answer briefly." },
    { role: "user", content: [{ type: "text", text: "What is MEV?" }], name: null },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "1", content: "{}" },
  ],
  stop: ["\\n"],
  temperature: null,
  tool_choice: { type: "function", function: { name: "f" } },
  response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } },
  modalities: ["text"],
};

// @ts-expect-error a role that does not exist
export const role: Schemas["ChatMessage"] = { role: "function", content: "a" };
// @ts-expect-error a tool message needs its call
export const tool: Schemas["ChatMessage"] = { role: "tool", content: "a" };
// @ts-expect-error images are not offered
export const part: Schemas["ContentPart"] = { type: "image_url", image_url: { url: "a" } };
// @ts-expect-error functions are not supported
export const functions: Schemas["ChatCompletionRequest"] = { model: "m", messages: [], functions: [] };

export function read(answer: Schemas["ChatCompletion"]): Schemas["ChatMessage"] {
  const choice = answer.choices[0]!;
  const reason: "stop" | "length" | "tool_calls" | "content_filter" = choice.finish_reason;
  const content: string | null = choice.message.content;
  return reason === "stop" && content ? choice.message : { role: "assistant", content: "" };
}

export function gather(data: Schemas["StreamEvent"]): string {
  if ("error" in data) return data.error.code ?? "unknown";
  return data.choices[0]?.delta.content ?? "";
}

export function explain(error: Answers[429]["content"]["application/json"]): Schemas["ErrorCode"] | null {
  return error.error.code;
}

export const event: Answers[200]["content"]["text/event-stream"] = {
  error: { message: "broken", type: "server_error", param: null, code: "upstream_error" },
  request_id: "req_1",
};
`;

// The types that partners get. Another test compares them with the contract.
const generated = fileURLToPath(new URL("../packages/contract/src/generated/types.ts", import.meta.url));

test("the generated types are pleasant and strict", { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "contract-types-"));
  try {
    await cp(generated, join(folder, "contract.ts"));
    await writeFile(join(folder, "partner.ts"), partner);
    expect(await compile(folder)).toBe("");
  } finally {
    await rm(folder, { recursive: true });
  }
});

const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
const options = "--noEmit --strict --target esnext --module nodenext --allowImportingTsExtensions".split(" ");

/** Compiles the partner's code, and returns the errors. */
function compile(folder: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [compiler, ...options, "partner.ts"], { cwd: folder }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}
