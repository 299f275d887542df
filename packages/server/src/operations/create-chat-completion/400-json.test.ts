import { describe, expect, test } from "vitest";
import { modelId } from "@parley/server/testing";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { useServer } from "../../../test/use-server.ts";

const server = useServer();
const refuse = (body: string | Uint8Array<ArrayBuffer>) => server().refuse({}, { body });

describe("HTTP-13 a body that is not JSON", () => {
  test.each([
    ["nothing", ""],
    ["blanks", " \n\t "],
    ["half an object", '{"model": "a"'],
    ["two values", "{} {}"],
    ["a comma too many", '{"model": "a",}'],
    ["single quotes", "{'model': 'a'}"],
    ["NaN", '{"temperature": NaN}'],
    ["a control character in a text", '{"model": "a\u0000"}'],
    ["a comment", '{"model": "a" /* b */}'],
    ["a form", "model=a&messages=b"],
    ["a long open text", `{"model": "${"a".repeat(100_000)}`],
    ["a backslash at the end", '{"model": "a\\'],
  ])("%s", async (_title, body) => {
    expect(await refuse(body)).toMatchObject({ status: 400, code: "invalid_json", param: null });
  });

  test.each([
    ['{"a": 1,}', "Expected double-quoted property name in JSON at position 8 (line 1 column 9)"],
    ['{"temperature": NaN, "user": "a secret"}', "Unexpected token 'N'"],
    ["[object Object]", '"[object Object]" is not valid JSON'],
    ['{"model": ', "Unexpected end of JSON input"],
  ])("the message says where the fault of %s is, and quotes nothing else", async (body, fault) => {
    expect((await refuse(body)).message).toBe(`The body is not valid JSON: ${fault}.`);
  });

  test("bytes that are not UTF-8", async () => {
    const bytes = Uint8Array.from([...Buffer.from('{"model": "'), 0xff, 0xfe, ...Buffer.from('"}')]);
    expect(await refuse(bytes)).toMatchObject({ status: 400, code: "invalid_json", param: null });
  });
});

describe("nesting", () => {
  const nested = (levels: number, open: string, close: string, inner = ""): string =>
    `{"model": "${modelId}", "messages": [{"role": "user", "content": "a"}], "mood": ${open.repeat(levels - 1)}${inner}${close.repeat(levels - 1)}}`;

  test.each([
    ["lists", "[", "]", ""],
    ["objects", '{"a":', "}", "1"],
  ])("HTTP-14 HTTP-15 of %s may have 128 levels and no more", async (_title, open, close, inner) => {
    expect(await refuse(nested(129, open, close, inner))).toMatchObject({ code: "invalid_json", param: null });
    const answer = await server().chat({}, { body: nested(128, open, close, inner) });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-ignored-params")).toBe("mood");
  });

  test("HTTP-14 a body of brackets does not exhaust the stack", async () => {
    expect(await refuse("[".repeat(1_000_000))).toMatchObject({ code: "invalid_json" });
    expect(await refuse('{"a":'.repeat(500_000))).toMatchObject({ code: "invalid_json" });
  });

  test("HTTP-15 brackets in texts do not count as levels", async () => {
    const content = '\\"[[[{{{'.repeat(100);
    const body = `{"model": "${modelId}", "messages": [{"role": "user", "content": "${content}"}]}`;
    expect((await server().chat({}, { body })).status).toBe(200);
  });
});

describe("HTTP-35 the number of values", () => {
  const most = contract["x-limits"].maxBodyValues.value;
  /** Seven values beside the list: the root, the model, the messages, one of them, its role, its content, and the list. */
  const holding = (values: number): string =>
    `{"model": "${modelId}", "messages": [{"role": "user", "content": "[1,2]"}], "mood": [${Array(values - 7)
      .fill("{}")
      .join()}]}`;

  test("may be the bound, and not one more", async () => {
    expect((await server().chat({}, { body: holding(most) })).status).toBe(200);
    const refusal = await refuse(holding(most + 1));
    expect(refusal).toMatchObject({ status: 400, code: "invalid_json", param: null });
    expect(refusal.message).toContain(String(most));
  });

  // 4 MB each: what took seconds of the event loop when it was checked value by value.
  test.each([
    ["empty subschemas", { tools: [toolOf({ anyOf: repeat(1_390_000, () => ({})) })] }],
    ["text parts", { messages: [{ role: "user", content: repeat(140_000, () => ({ type: "text", text: "" })) }] }],
    ["zeros beside a seed", { seed: 1, mood: repeat(2_000_000, () => 0) }],
    ["properties", { tools: [toolOf({ properties: propertiesOf(200_000) })] }],
  ])("a body of %s does not hold up the others", async (_title, members) => {
    const body = JSON.stringify({ model: modelId, messages: [{ role: "user", content: "a" }], ...members });
    const before = process.threadCpuUsage();
    expect(await refuse(body)).toMatchObject({ status: 400, code: "invalid_json" });
    // Of client and server together. Processor time, since other programs may use the machine as well.
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(500);
  });
});

describe("HTTP-16 JSON that is not an object", () => {
  test.each(["null", "[]", "5", '"a"', "true", '[{"model": "a"}]'])("%s", async (body) => {
    expect(await refuse(body)).toMatchObject({ status: 400, code: "invalid_type", param: null });
  });
});

const repeat = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);

function toolOf(parameters: object): object {
  return { type: "function", function: { name: "f", parameters } };
}

function propertiesOf(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}]));
}
