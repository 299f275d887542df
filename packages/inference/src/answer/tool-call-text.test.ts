import { describe, expect, test } from "vitest";
import { bytesOf, everyCut } from "../../test/cuts.ts";
import { ToolCallText } from "./tool-call-text.ts";

function read(parts: readonly (readonly number[])[]): { names: string[]; text: string; isComplete: boolean } {
  const call = new ToolCallText();
  const names: string[] = [];
  let text = "";
  let isComplete = false;
  for (const bytes of parts) {
    if (isComplete) break;
    const delta = call.push(bytes);
    if (delta.name !== undefined) names.push(delta.name);
    text += delta.arguments;
    isComplete = delta.isComplete;
  }
  return { names, text, isComplete };
}

describe("the body of a call", () => {
  test.each([
    ["nothing", "{}"],
    ["braces in strings", String.raw`{"a": "}{", "b": "\"}", "c\\": "\\"}`],
    ["nested values", '{"a": [{"b": {}}, [[]]], "é": "🦀"}'],
  ])("%s: name and arguments are the same however the bytes are cut", (_title, text) => {
    const body = bytesOf(`{"name": "get-it_1", "arguments": ${text}}`);
    for (const parts of [...everyCut(body), body.map((byte) => [byte])]) {
      expect(read(parts)).toEqual({ names: ["get-it_1"], text, isComplete: true });
    }
  });

  test("is not complete before its last brace", () => {
    const body = bytesOf('{"name": "f", "arguments": {"a": {}}}');
    for (let length = 0; length < body.length; length += 1) {
      expect(read([body.slice(0, length)]).isComplete).toBe(false);
    }
  });
});
