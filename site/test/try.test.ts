import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeKeyIn, startTestServer, testKey, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { executablePath, launchChromium, watchTroubles } from "./chromium.ts";

/** The pages that send requests, against a real server. */

const scenarios = {
  slow: [
    { role: true },
    { text: "The first words" },
    { wait_ms: 6000 },
    { text: " and the rest." },
    { finish: "stop" },
  ],
  endless: [{ role: true }, { repeat: 2000, steps: [{ text: " word" }, { wait_ms: 20 }] }, { finish: "stop" }],
  breaks: [{ role: true }, { text: "This much" }, { wait_ms: 100 }, { fail: "out of memory" }],
  call: [
    { role: true },
    { tool: { index: 0, name: "get_balance", arguments: '{"chain":"base","address":"0x1"}' } },
    { finish: "tool_calls" },
  ],
  object: [{ role: true }, { text: '{"risk":"low"}' }, { finish: "stop" }],
} as const;

describe.skipIf(executablePath === undefined)("in a browser (it would run with Debian's chromium installed)", () => {
  let server: TestServer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let troubles: string[];

  beforeAll(async () => {
    server = await startTestServer({ scenarios });
    // A browser would be told to come again while the site is built.
    await fetch(`${server.origin}/docs`);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    troubles = watchTroubles(page, server.origin);
  });
  afterEach(() => context.close());

  const choices = () => page.locator("#choices");
  const send = () => page.getByRole("button", { name: "Send", exact: true }).click();
  const stop = () => page.getByRole("button", { name: "Stop" }).click();

  async function load(path: string): Promise<void> {
    await page.goto(server.origin + path);
    await page.locator(":is(.try, .chat):not([inert])").waitFor();
  }

  async function open(path: string, key = testKey): Promise<void> {
    await load(path);
    await page.getByLabel("Your key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByText("2 models for this key").waitFor();
  }

  const write = (text: string) => page.getByLabel("Content of message 1").fill(text);

  describe("Try it", () => {
    test("lists the models of the key, and keeps the key in memory only", async () => {
      await open("/docs/try");
      expect(await page.getByLabel("Model", { exact: true }).locator("option").allInnerTexts()).toEqual([
        "vendor/model-1",
        "vendor/model-1-mini",
      ]);
      const stored = await page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])",
      );
      expect(stored).not.toContain(testKey);
      await page.reload();
      expect(await page.getByLabel("Your key").inputValue()).toBe("");
      expect(troubles).toEqual([]);
    });

    test("shows the first text before the last token is produced, then the whole answer and its exact cost", async () => {
      await open("/docs/try");
      await write("script:slow");
      await send();
      await page.getByText("The first words").first().waitFor({ timeout: 5000 });
      expect(await choices().innerText()).not.toContain("the rest");
      expect((await server.ledger()).at(-1)?.outcome).toBe("open");
      await page.getByText("The whole answer took").waitFor();
      expect(await choices().innerText()).toContain("The first words and the rest.");
      expect(await page.locator("#events").innerText()).toContain("data: [DONE]");
      expect(await page.locator("#cost b").innerText()).toBe(`$${(await server.ledger()).at(-1)?.cost_usd}`);
      expect(troubles).toEqual([]);
    });

    test("stop ends the generation in the engine", async () => {
      await open("/docs/try");
      await write("script:endless");
      await send();
      await choices().getByText("word word").waitFor();
      await stop();
      await page.getByText("Stopped after").waitFor();
      await until(
        async () => (await server.ledger()).at(-1)?.outcome,
        (outcome) => outcome === "cancelled",
      );
      const tokens = (await server.ledger()).at(-1)?.completion_tokens ?? 0;
      expect(tokens).toBeGreaterThan(1);
      expect(tokens).toBeLessThan(1000);
    });

    test("a wrong key is a 401 with a link to its page", async () => {
      await load("/docs/try");
      await page.getByLabel("Your key").fill("wrong-key-0123456789");
      await page.keyboard.press("Tab");
      const failure = page.locator("#connection-status");
      await failure.getByText("HTTP 401").waitFor();
      expect(await failure.getByRole("link", { name: "invalid_api_key" }).getAttribute("href")).toBe(
        "/docs/errors/invalid_api_key",
      );
    });

    test("a 400 is shown beside the member that its param names, in the form and in JSON", async () => {
      await open("/docs/try");
      await page.getByLabel("Example").selectOption("fault");
      expect(await page.locator("#field-top_logprobs-fault").innerText()).toContain("at most 20");
      await send();
      await page.getByText("HTTP 400").waitFor();
      expect(await page.locator("#failure").innerText()).toContain("top_logprobs");
      expect(await page.locator("#field-top_logprobs-fault").innerText()).toContain("The service says:");
      await page.getByRole("tab", { name: "JSON" }).click();
      await send();
      await page.locator("#faults").getByText("The service says:").waitFor();
      expect(await page.locator("#faults code").first().innerText()).toBe("top_logprobs");
    });

    test("a 429 shows its wait, counts down, and can be sent again", async () => {
      const { token } = await makeKeyIn(server.dataDir, { requestsPerMinute: 1 });
      await open("/docs/try", token);
      await write("Hello");
      await send();
      await page.getByText("The whole answer took").waitFor();
      await send();
      const failure = page.locator("#failure");
      await failure.getByText("HTTP 429").waitFor();
      expect(await failure.getByRole("link").getAttribute("href")).toBe("/docs/errors/rate_limit_exceeded");
      expect(await failure.innerText()).toMatch(/Wait \d+ s, then send it again/);
      expect(await failure.getByRole("button", { name: "Send again" }).isDisabled()).toBe(true);
    });

    test("a failure in mid-stream keeps the text and names the error", async () => {
      await open("/docs/try");
      await write("script:breaks");
      await send();
      await page.getByText("The stream failed").waitFor();
      expect(await choices().innerText()).toContain("This much");
      expect(await page.locator("#failure").getByRole("link").innerText()).toBe("upstream_error");
      expect(await page.locator(".raw-event.bad").innerText()).toContain('data: {"error"');
    });

    test("JSON is completed at the caret and checked while it is written", async () => {
      await open("/docs/try");
      await page.getByRole("tab", { name: "JSON" }).click();
      const area = page.getByLabel("Body of the request as JSON");
      await area.fill('{"model": "vendor/model-1", "messages": [{"role": "user", "content": "Hello"}], "temp');
      await page.keyboard.press("Control+ ");
      await page.keyboard.type("3}");
      expect(await area.inputValue()).toMatch(/"temperature": 3}$/);
      expect(await page.locator("#faults").innerText()).toContain("at most 2");
    });

    test("the link of an operation's page chooses the operation", async () => {
      await page.goto(`${server.origin}/docs/reference/createChatCompletion`);
      await page.getByRole("link", { name: "Try it" }).last().click();
      await page.waitForURL(/\/docs\/try#createChatCompletion$/);
      await load("/docs/try#retrieveModel");
      await page.getByLabel("Your key").fill(testKey);
      await page.getByLabel("Model id").fill("vendor/model-1-mini");
      await send();
      await page.getByText("The whole answer took").waitFor();
      expect(await page.locator("#events").innerText()).toContain('"id": "vendor/model-1-mini"');
      expect(await page.locator("#samples").innerText()).toContain("/models/vendor/model-1-mini");
    });
  });

  describe("the playground", () => {
    const log = () => page.getByRole("log");

    async function say(text: string): Promise<void> {
      await page.getByLabel("Message", { exact: true }).fill(text);
      await page.keyboard.press("Enter");
    }

    test("answers, with the conversation so far, by keyboard alone", async () => {
      await open("/docs/playground");
      await say("First question");
      await page.getByText("The answer is complete.").waitFor();
      await say("Second question");
      await log().getByText("You said: Second question").waitFor();
      await page.getByRole("button", { name: "New chat" }).click();
      expect(await log().innerText()).not.toContain("Second question");
      expect(troubles).toEqual([]);
    });

    test("stops, retries, and shows a failure", async () => {
      await open("/docs/playground");
      await say("script:endless");
      await log().getByText("word word").waitFor();
      await page.keyboard.press("Escape");
      await log().getByText("Stopped.").waitFor();
      await page.getByRole("button", { name: "Retry" }).click();
      await log().getByText("word word").waitFor();
      await stop();
      await say("script:breaks");
      await log().getByText("The stream failed").waitFor();
      expect(await log().getByRole("link").innerText()).toBe("upstream_error");
    });

    test("renders a tool call and sends its result, and renders JSON", async () => {
      await open("/docs/playground");
      await page.getByText("Instructions, form and tools").click();
      await page.getByText("Offer the tool get_balance").click();
      await say("script:call");
      await log().getByText("Call of get_balance").waitFor();
      expect(await log().locator(".call pre").innerText()).toContain('"chain": "base"');
      await page.getByRole("button", { name: "Send the result" }).click();
      await log().getByText("Call of get_balance").nth(1).waitFor();
      await page.getByRole("button", { name: "New chat" }).click();
      await say("script:object");
      await log().locator("pre.json").waitFor();
      expect(await log().locator("pre.json").innerText()).toBe('{\n  "risk": "low"\n}');
    });
  });
});
