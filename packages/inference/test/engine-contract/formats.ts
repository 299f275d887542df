import { isRecord } from "@parley/common/is-record";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { ask, askOne } from "../../testing/requests.ts";
import { noArguments, shortSchema, weather } from "./given.ts";
import type { Given } from "./given.ts";

export function describeFormats({ engine }: Given): void {
  const ajv = new Ajv2020();
  const isShort = ajv.compile(shortSchema);
  const isWeather = ajv.compile(weather.parameters);

  test("JSON is valid against its schema", async () => {
    const { text, finish } = await askOne(engine(), {
      format: { type: "json_schema", schema: shortSchema },
      maxTokens: 60,
    });
    expect(finish).toBe("stop");
    expect(isShort(JSON.parse(text))).toBe(true);
  });

  test("a JSON object is an object, as far as it came", async () => {
    const { text, finish } = await askOne(engine(), { format: { type: "json_object" }, maxTokens: 40 });
    expect(text.startsWith("{")).toBe(true);
    expect(finish === "length" || isRecord(JSON.parse(text))).toBe(true);
  });

  test.each([
    ["a named one", { oneOf: [weather.name] }],
    ["any one", { oneOf: [weather.name, noArguments.name] }],
  ])("a forced call, %s, is complete and valid", async (_title, toolChoice) => {
    const { calls, finish } = await askOne(engine(), {
      tools: [weather, noArguments],
      toolChoice,
      parallelToolCalls: false,
      maxTokens: 60,
    });
    expect(finish).toBe("tool_calls");
    expect(calls).toHaveLength(1);
    const [call] = calls;
    const parsed: unknown = JSON.parse(call?.arguments ?? "");
    expect(call?.name === weather.name ? isWeather(parsed) : call?.arguments === "{}").toBe(true);
  });

  test("calls are numbered from 0 and named once", async () => {
    const request = { tools: [weather], toolChoice: { oneOf: [weather.name] }, maxTokens: 120 };
    const { events } = await ask(engine(), request);
    const steps = events.filter((event) => event.kind === "tool");
    const named = steps.filter((step) => step.name !== undefined);
    expect(named.map((step) => step.index)).toEqual(named.map((_step, index) => index));
    const firsts = steps.filter((step, place) => step.index !== steps[place - 1]?.index);
    expect(firsts).toEqual(named);
    expect(named.every((step) => step.name === weather.name)).toBe(true);
  });
}
