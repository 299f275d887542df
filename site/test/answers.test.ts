import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, testKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { axeFindings, executablePath, launchChromium } from "./chromium.ts";

/** The pages that send requests with answers and errors on screen, and every page by keyboard. */

const call = { index: 0, name: "get_balance", arguments: '{"chain":"base"}' };
const scenarios = {
  all: [
    { role: true },
    { reasoning: "A pool of two tokens." },
    { text: "It costs:\n\n```\nfee = 21000\n```\n\nNo more." },
    { tool: call },
    { finish: "tool_calls" },
  ],
  object: [{ role: true }, { text: '{"risk":"low"}' }, { finish: "stop" }],
  breaks: [{ role: true }, { text: "This much" }, { fail: "out of memory" }],
} as const;

/** The element with the focus: its name, and the fault that hides it or its ring from a reader. */
interface Focused {
  readonly name: string;
  readonly fault: string;
}

/** Runs in the page, whose types the tests do not have. */
const describeFocus = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return { name: "", fault: "" };
  const name = (element.id || element.getAttribute("aria-label") || element.textContent).trim().slice(0, 40);
  const { left, top, width, height } = element.getBoundingClientRect();
  const x = Math.min(Math.max(left + Math.min(10, width / 2), 0), innerWidth - 1);
  const y = Math.min(Math.max(top + Math.min(height, innerHeight) / 2, 0), innerHeight - 1);
  const seen = document.elementFromPoint(x, y);
  const isSeen = seen !== null && (element.contains(seen) || seen.contains(element));
  const hasRing = getComputedStyle(element).outlineStyle !== "none";
  return { name, fault: isSeen ? (hasRing ? "" : name + ": no ring") : name + ": covered or outside" };
})()`;

describe.skipIf(executablePath === undefined)("in a browser (it would run with Debian's chromium installed)", () => {
  let server: TestServer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

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
  afterEach(() => context.close());

  async function open(path: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<void> {
    context = await browser.newContext({ reducedMotion: "reduce", ...options });
    page = await context.newPage();
    await page.goto(server.origin + path, { waitUntil: "networkidle" });
    if (/\/(try|playground)$/.test(path)) await page.locator(":is(.try, .chat):not([inert])").waitFor();
  }

  async function useKey(key: string): Promise<void> {
    await page.getByLabel("Your key").fill(key);
    await page.keyboard.press("Enter");
    await page.locator("#connection-status > *").waitFor();
  }

  describe.each(["light", "dark"] as const)("axe finds nothing, %s", (colorScheme) => {
    async function ask(text: string): Promise<void> {
      await page.getByLabel("Content of message 1").fill(text);
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.locator('#answer[aria-busy="false"] #state', { hasText: /took|Failed/ }).waitFor();
    }

    test("Try it: an answer with an open event, a fault, a broken stream, a refused key", async () => {
      await open("/docs/try", { colorScheme });
      await useKey(testKey);
      await ask("script:all");
      await page.locator("#events summary").nth(2).click();
      expect(await page.locator("#choices .call").isVisible()).toBe(true);
      expect(await axeFindings(page)).toEqual([]);
      await page.getByLabel("temperature").fill("3");
      await ask("Hello");
      await page.getByRole("tab", { name: "JSON" }).click();
      expect(await page.locator("#failure").innerText()).toContain("HTTP 400");
      expect(await axeFindings(page)).toEqual([]);
      await page.getByRole("tab", { name: "Form" }).click();
      await page.getByLabel("temperature").fill("");
      await ask("script:breaks");
      expect(await page.locator("#failure").innerText()).toContain("The stream failed");
      expect(await axeFindings(page)).toEqual([]);
      await useKey("wrong");
      await ask("Hello");
      expect(await page.locator("#failure").innerText()).toContain("HTTP 401");
      // Nothing has arrived, so the boxes for it are not shown.
      expect(await page.locator("#choices").isVisible()).toBe(false);
      expect(await axeFindings(page)).toEqual([]);
    });

    test("the playground: a call with the form for its result, JSON, a broken stream, the settings", async () => {
      await open("/docs/playground", { colorScheme });
      await useKey(testKey);
      for (const [text, sign] of [
        ["script:all", ".results"],
        ["script:object", "pre.json"],
        ["script:breaks", ".failure"],
      ] as const) {
        await page.getByLabel("Message", { exact: true }).fill(text);
        await page.keyboard.press("Enter");
        await page.locator(`#log ${sign}`).waitFor();
      }
      await page.getByText("Instructions, form and tools").click();
      expect(await axeFindings(page)).toEqual([]);
    });

    test("the search, with and without results", async () => {
      await open("/docs", { colorScheme });
      await page.locator("button.search-open").waitFor(); // the script of the page has run
      await page.keyboard.press("/");
      await page.getByRole("combobox", { name: "Search" }).fill("retry");
      await page.getByRole("option").first().waitFor();
      expect(await page.getByRole("option").first().innerText()).toContain("Errors and retries");
      expect(await axeFindings(page)).toEqual([]);
      await page.getByRole("combobox", { name: "Search" }).fill("qqqzzz");
      await page.getByText("Nothing found").waitFor();
      expect(await axeFindings(page)).toEqual([]);
    });
  });

  const focused = (): Promise<Focused> => page.evaluate<Focused>(describeFocus);

  /** Presses Tab until the focus leaves the page. Returns the names of the elements, and the faults. */
  async function walk(): Promise<{ names: string[]; faults: string[] }> {
    const names: string[] = [];
    const faults: string[] = [];
    for (let count = 0; count < 150; count++) {
      await page.keyboard.press("Tab");
      const { name, fault } = await focused();
      if (name === "") break;
      names.push(name);
      if (fault !== "") faults.push(fault);
    }
    return { names, faults };
  }

  test.each([
    ["/docs", 1280],
    ["/docs/guides/streaming", 1280],
    ["/docs/guides/streaming", 390],
    ["/docs/reference/stream", 1280],
    ["/docs/reference/models", 390],
    ["/docs/try", 1280],
    ["/docs/try", 390],
    ["/docs/playground", 1280],
    ["/docs/playground", 390],
  ])("%s at %d px: each stop of the Tab key is in view and has a ring", async (path, width) => {
    await open(path, { viewport: { width, height: 800 } });
    const { names, faults } = await walk();
    expect(faults).toEqual([]);
    expect(names.length).toBeGreaterThan(12);
    expect(names[0]).toBe("Skip to the content");
  });

  test("Try it is used by keyboard alone, to the JSON of an event", async () => {
    await open("/docs/try");
    const press = async (wanted: string): Promise<void> => {
      for (let count = 0; count < 60 && (await focused()).name !== wanted; count++) await page.keyboard.press("Tab");
      expect((await focused()).name).toBe(wanted);
    };
    await press("key");
    await page.keyboard.type(testKey);
    await press("send");
    await page.keyboard.press("Enter");
    await page.getByText("The whole answer took").waitFor();
    await press("events");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.locator("#events details[open] pre").innerText()).toContain('"object": "chat.completion.chunk"');
  });
});
