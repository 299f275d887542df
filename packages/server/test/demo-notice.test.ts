import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { startTestServer } from "@parley/server/testing";
import { demoModels } from "../src/config/default-models.ts";

const chatProgram = new URL("../../../demo-models/training/chat.py", import.meta.url);

test.each([
  ["a demonstration model", { models: { "model-1-mini": null }, engine: "embedded" }, true],
  ["models of an operator", {}, false],
] as const)("/docs says what answers: %s", async (_title, settings, isDemo) => {
  await using server = await startTestServer({ settings });
  const page = await (await fetch(`${server.origin}/docs`)).text();
  expect(page.includes("This service runs small demonstration models")).toBe(isDemo);
  expect(page).toContain("<title>Parley documentation</title>");
});

test.each(["model-1", "model-1-mini"] as const)("%s tells the longest lesson that its card names", (name) => {
  const card = readFileSync(new URL(`../../../demo-models/${name}/README.md`, import.meta.url), "utf8");
  const [, longest] = /the longest lesson had (\d+) tokens/.exec(card) ?? [];
  expect(demoModels[name].trainedPromptTokens).toBe(Number(longest));
});

test("a demonstration model is shown a schema in the line that it is taught", async () => {
  await using server = await startTestServer({
    settings: { models: { "model-1-mini": null }, engine: "embedded", kvMemoryMb: 128 },
  });
  const taught = /SCHEMA_PROMPT = "(.*)"/.exec(readFileSync(chatProgram, "utf8"))?.[1];
  expect(server.running.models[0]?.engine.metadata?.schemaPrompt).toBe(taught);
});
