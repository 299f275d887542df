import { describe, expect, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { chatWell, chunk, done, openPlace, say as answerWith } from "@parley/inference/testing/places";
import { miniId, startTestServer } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import type { Completion } from "../src/chat/relay/collect.ts";
import { useServer } from "./use-server.ts";

/** Callers' schemas keep every digit of their numbers and the order of their members, with every engine. */

const schema = `{
  "type": "object",
  "properties": {
    "wei": {"const": 9007199254740993},
    "10": {"type": "integer", "minimum": 9223372036854775807, "maximum": 9223372036854775807},
    "9": {"enum": [1000000000000000000001]},
    "a": {"const": {"z": 0.1000000000000000000001, "2": 1, "1": 2}}
  },
  "required": ["wei", "10", "9", "a"],
  "additionalProperties": false
}`;
const answer =
  '{"wei":9007199254740993,"10":9223372036854775807,"9":1000000000000000000001,"a":{"z":0.1000000000000000000001,"2":1,"1":2}}';

const answerFormat = `"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": ${schema}}}`;
const forcedCall = `"tool_choice": "required", "tools": [{"type": "function", "function": {"name": "f", "strict": true, "parameters": ${schema}}}]`;

/** Sends a body that `JSON.stringify` could not produce. */
async function ask(
  server: TestServer,
  model: string,
  members: string,
): Promise<Completion["choices"][number]["message"]> {
  const body = `{"model": "${model}", "temperature": 0, "messages": [{"role": "user", "content": "How much?"}], ${members}}`;
  const response = await server.fetch("/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const completion = (await response.json()) as Completion;
  return completion.choices[0]?.message ?? expect.unreachable("an answer has a choice");
}

const withoutBlanks = (text: string | null | undefined): string => (text ?? "").replaceAll(/\s/g, "");

describe.each(["embedded", "scripted"] as const)("an engine that is %s", (engine) => {
  const server = useServer({ settings: { engine, kvMemoryMb: 256 } });
  const models = engine === "embedded" ? ["vendor/model-1", "vendor/model-1-mini"] : ["vendor/model-1"];

  test.each(models)("%s writes the schema's numbers in the schema's order", { timeout: 60_000 }, async (model) => {
    const { content } = await ask(server(), model, answerFormat);
    expect(withoutBlanks(content)).toBe(answer);
    const { tool_calls } = await ask(server(), model, forcedCall);
    expect(withoutBlanks(tool_calls?.[0]?.function.arguments)).toBe(answer);
  });

  test("streams the same", async () => {
    const format = { type: "json_schema", json_schema: { name: "a", schema: { marker: 0 } } };
    const body = JSON.stringify({
      model: models[0],
      stream: true,
      messages: [{ role: "user", content: "How much?" }],
      response_format: format,
    });
    const response = await server().fetch("/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: body.replace('{"marker":0}', '{"const":9007199254740993}'),
    });
    const text = await response.text();
    const parts = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, part]) => part);
    expect(parts.join("")).toBe("9007199254740993");
  });
});

describe("an engine elsewhere that has only a chat route", () => {
  const write = (content: string) => answerWith(chunk({ role: "assistant", content }, "stop") + done);

  async function start(content: string) {
    const place = await openPlace(chatWell, 0, "/v1/chat/completions");
    place.listed = { owned_by: "vllm" };
    const remote = { urls: [place.url], model: "there", tokenizer: miniFolder, protocol: "chat" } as const;
    const server = await startTestServer({ settings: { models: { "model-1-mini": { engine: "remote", remote } } } });
    place.answer = write(content);
    return { place, server };
  }

  test("gets the schema as the caller wrote it", async () => {
    const { place, server: running } = await start(answer);
    await using server = running;
    expect((await ask(server, miniId, answerFormat)).content).toBe(answer);
    expect(place.requests.at(-1)?.body).toContain(withoutBlanks(schema));
    await server.fetch("/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"model": "${miniId}", "messages": [{"role": "user", "content": "How much?"}], ${forcedCall}}`,
    });
    expect(place.requests.at(-1)?.body).toContain(`"parameters":${withoutBlanks(schema)}`);
  });

  test("is not believed when it writes another number", async () => {
    const { server: running } = await start(answer.replace("740993", "740992"));
    await using server = running;
    await expect(ask(server, miniId, answerFormat)).rejects.toThrow("502");
  });
});

describe("a schema that cannot be used", () => {
  const server = useServer();

  test.each([
    [
      "tools[0].function.parameters",
      '"tools": [{"type": "function", "function": {"name": "f", "parameters": NUMBER}}]',
    ],
    ["tools[0].function", '"tools": [{"type": "function", "function": NUMBER}]'],
    [
      "response_format.json_schema.schema",
      '"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": NUMBER}}',
    ],
    ["response_format.json_schema", '"response_format": {"type": "json_schema", "json_schema": NUMBER}'],
  ])("has no object at %s but a number", async (param, members) => {
    for (const number of ["7", "9007199254740993", "1e400"]) {
      const init = { method: "POST", headers: { "content-type": "application/json" } };
      const body = `{"model": "vendor/model-1", "messages": [{"role": "user", "content": "a"}], ${members}}`;
      const response = await server().fetch("/chat/completions", { ...init, body: body.replace("NUMBER", number) });
      const { error } = (await response.json()) as { error: { code: string; param: string } };
      expect([response.status, error.code, error.param]).toEqual([400, "invalid_type", param]);
    }
  });

  test("because of a number is refused, and the number is named", async () => {
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    const format = answerFormat.replace("9007199254740993", "1e400");
    const body = `{"model": "vendor/model-1", "messages": [{"role": "user", "content": "a"}], ${format}}`;
    const response = await server().fetch("/chat/completions", { ...init, body });
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([400, "invalid_schema"]);
    expect(error.message).toContain("the number 1e400 has more than 400 digits");
    expect(error.message).toContain("(at properties.wei.const)");
  });
});
