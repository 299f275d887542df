import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, testKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { axeFindings, executablePath, launchChromium, watchTroubles } from "./chromium.ts";

/** The portal as a browser shows it. */

/** A page of each kind. */
const kinds = [
  "/docs",
  "/docs/guides",
  "/docs/guides/quick-start",
  "/docs/guides/limits",
  "/docs/guides/streaming",
  "/docs/guides/your-app",
  "/docs/guides/programs/oapi-codegen",
  "/docs/reference",
  "/docs/reference/createChatCompletion",
  "/docs/reference/stream",
  "/docs/reference/models",
  "/docs/reference/schemas/Price",
  "/docs/try",
  "/docs/playground",
  "/docs/clauses",
  "/docs/clauses/STRM-04",
  "/docs/errors",
  "/docs/errors/rate_limit_exceeded",
  "/docs/admin",
  "/docs/admin/updateGroup",
  "/docs/admin/errors",
  "/docs/admin/schemas/Group",
] as const;

describe.skipIf(executablePath === undefined)("in a browser (it would run with Debian's chromium installed)", () => {
  let server: TestServer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** Errors of the console, failed requests, and requests to other hosts. */
  let troubles: string[] = [];

  async function open(options: Parameters<Browser["newContext"]>[0] = {}): Promise<void> {
    await context?.close();
    context = await browser.newContext(options);
    page = await context.newPage();
    troubles = watchTroubles(page, server.origin);
  }

  /** Opens a page, and waits until its scripts have run. The two that send requests load more after that. */
  const go = (path: string, waitUntil: "load" | "networkidle" = /try|playground/.test(path) ? "networkidle" : "load") =>
    page.goto(server.origin + path, { waitUntil });

  beforeAll(async () => {
    server = await startTestServer();
    // A browser would be told to come again while the site is built.
    await fetch(`${server.origin}/docs`);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  describe.each(["light", "dark"] as const)("%s", (colorScheme) => {
    test.each([...kinds, "/docs/guides/stremaing"])("%s: no trouble, and axe finds nothing", async (path) => {
      await open({ colorScheme, viewport: { width: 1280, height: 900 } });
      const answer = await go(path);
      expect(await axeFindings(page)).toEqual([]);
      // The console tells the status of the page that does not exist.
      expect(troubles).toEqual(answer?.status() === 404 ? [expect.stringContaining("404")] : []);
    });
  });

  test.each(kinds)("%s does not scroll sideways at 360 px", async (path) => {
    await open({ viewport: { width: 360, height: 740 } });
    await go(path);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  });

  test.each([
    ["cancel", "Streaming"],
    ["retry", "Errors"],
    ["429", "rate_limit_exceeded (429)"],
    ["wrong key", "invalid_api_key (401)"],
    ["gzip body", "unsupported_media_type (415)"],
    ["image", "unsupported_value (400)"],
    ["STRM-04", "STRM-04:"],
    ["tool_choice", "tool"],
    ["rotateKey", "Rotate a key"],
    ["overlap_seconds", "KeyRotate"],
  ])("the search finds %s", async (query, title) => {
    await open();
    await go("/docs");
    await page.keyboard.press("/");
    await page.getByRole("combobox", { name: "Search" }).fill(query);
    await page.getByRole("option").first().waitFor();
    const titles = await page.getByRole("option").locator("b").allInnerTexts();
    expect(titles.some((one) => one.includes(title))).toBe(true);
    if (query === "STRM-04") expect(titles[0]).toContain(title);
    const href = await page.getByRole("option").first().getAttribute("href");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${server.origin}${href}`);
    expect(troubles).toEqual([]);
  });

  test("a page that does not exist offers the nearest pages, and a search for its name", async () => {
    await open();
    await go("/docs/guides/reading-stream");
    expect(await page.locator("article li a").first().getAttribute("href")).toBe("/docs/guides/reading-streams");
    await page.getByRole("button", { name: "Search for “reading stream”" }).click();
    await page.getByRole("option").first().waitFor();
    expect(await page.locator(".search-status").innerText()).toContain("for “reading stream”");
  });

  test("the chosen tab and theme are remembered, on other pages, too", async () => {
    await open({ colorScheme: "light" });
    await go("/docs");
    await page.getByRole("tab", { name: "Python · openai" }).click();
    await page.getByRole("button", { name: "Light or dark" }).click();
    await go("/docs/clauses");
    await go("/docs");
    expect(await page.getByRole("tab", { name: "Python · openai" }).getAttribute("aria-selected")).toBe("true");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
  });

  test("tabs are used with the arrow keys", async () => {
    await open();
    await go("/docs");
    await page.getByRole("tab", { name: "curl" }).focus();
    const before = await page.getByRole("tabpanel").innerText();
    await page.keyboard.press("ArrowRight");
    expect(await page.getByRole("tab").nth(1).getAttribute("aria-selected")).toBe("true");
    expect(await page.getByRole("tabpanel").innerText()).not.toBe(before);
  });

  test.each(["createChatCompletion", "listModels", "retrieveModel"])(
    "%s has samples in seven languages, and loads those that its page does not contain",
    async (operation) => {
      await open();
      await go(`/docs/reference/${operation}`);
      const samples = page.locator(".tabs").first();
      expect(await samples.getByRole("tab").allInnerTexts()).toEqual([
        "curl",
        "TypeScript · ours",
        "TypeScript · openai",
        "Python · openai",
        "Python · httpx",
        "Go",
        "Java",
      ]);
      for (const [label, line] of [
        ["TypeScript · openai", 'import { OpenAI } from "openai";'],
        ["Python · httpx", "import httpx"],
        ["Java", "import java.net.URI;"],
        ["Go", "package main"],
      ] as const) {
        await samples.getByRole("tab", { name: label }).click();
        await samples.getByRole("tabpanel").locator("code", { hasText: line }).waitFor();
      }
      // The last choice is remembered.
      await go(`/docs/reference/${operation}`);
      await samples.getByRole("tabpanel").locator("code", { hasText: "package main" }).waitFor();
      expect(troubles).toEqual([]);
    },
  );

  test("a sample that cannot be loaded stays a link, and the next choice loads it", async () => {
    await open();
    await go("/docs/reference/listModels");
    const samples = page.locator(".tabs").first();
    await context.setOffline(true);
    await samples.getByRole("tab", { name: "Go" }).click();
    expect(await samples.getByRole("link", { name: "main.go" }).isVisible()).toBe(true);
    await samples.getByRole("tab", { name: "curl" }).click();
    await context.setOffline(false);
    await samples.getByRole("tab", { name: "Go" }).click();
    await samples.getByRole("tabpanel").locator("code", { hasText: "package main" }).waitFor();
  });

  test("without scripts, a narrow page begins with its article, not with the list of pages", async () => {
    await open({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    await go("/docs/guides/quick-start");
    expect((await page.locator("h1").boundingBox())?.y).toBeLessThan(300);
  });

  test("without scripts, an operation shows each sample or a link to it", async () => {
    await open({ javaScriptEnabled: false });
    await go("/docs/reference/createChatCompletion");
    const samples = page.locator(".tabs").first();
    expect(await samples.locator("pre").count()).toBe(3);
    for (const href of await samples
      .locator("a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href"))))
      expect((await fetch(server.origin + href)).headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await samples.locator("a").count()).toBe(4);
  });

  test("the first key leads to the content", async () => {
    await open();
    await go("/docs/errors");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
  });

  test("a link to a folded member opens the parts around it", async () => {
    await open();
    await go("/docs/reference/createChatCompletion#stream_options.include_usage");
    expect(await page.locator('[id="stream_options.include_usage"]').isVisible()).toBe(true);
  });

  test("the drawing of the stream shows what an event takes", async () => {
    await open();
    await go("/docs/reference/stream");
    const lit = () => page.locator(".machine .label.lit").evaluateAll((labels) => labels.map((one) => one.textContent));
    await page.getByRole("button", { name: "Next" }).click();
    expect(await lit()).toEqual(["piece", "role"]);
    await page.locator("button.event", { hasText: "[DONE]" }).first().click();
    expect(await lit()).toEqual(["done"]);
    expect(await page.locator('[data-state="stream/done"]').getAttribute("class")).toContain("now");
    await page.getByRole("tab", { name: "A failure in mid-stream" }).click();
    await page.locator("button.event:visible").last().click();
    expect(await page.locator('[data-state="stream/failed"]').getAttribute("class")).toContain("now");
    expect(troubles).toEqual([]);
  });

  test("the calculator of costs is exact, and takes the prices of this server with a key", async () => {
    await open();
    await go("/docs/reference/models");
    const cost = page.locator(".calculator output");
    await page.getByLabel("Price of a prompt token").fill("0.1");
    await page.getByLabel("Price of a completion token").fill("0.0000006");
    await page.getByLabel("Prompt tokens").fill("3");
    await page.getByLabel("Completion tokens").fill("1");
    await page.getByLabel("Answers").fill("10");
    expect(await cost.innerText()).toBe("$0.3000006 an answer, $3.000006 for 10 answers");
    await page.getByLabel("Price of a cached one").fill("0.01");
    await page.getByLabel("Cached ones among them").fill("2");
    expect(await cost.innerText()).toBe("$0.1200006 an answer, $1.200006 for 10 answers");
    await page.getByLabel("Cached ones among them").fill("4");
    expect(await cost.innerText()).toContain("at most all prompt tokens are cached");
    await page.getByText("Use the prices of this server").click();
    await page.getByLabel("Your key").fill(testKey);
    await page.getByRole("button", { name: "Load the models" }).click();
    await page.getByText("models of this server are in the list").waitFor();
    expect(troubles).toEqual([]);
  });

  test("the list of pages opens and closes on a narrow window", async () => {
    await open({ viewport: { width: 390, height: 844 } });
    await go("/docs/errors/invalid_value");
    const list = page.locator("#side");
    expect(await list.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Pages of this part" }).click();
    expect(await list.isVisible()).toBe(true);
  });

  test.each([
    "/docs",
    "/docs/reference/createChatCompletion",
    "/docs/guides/quick-start",
    "/docs/try",
    "/docs/playground",
    "/docs/admin",
    "/docs/admin/createKey",
  ])("the first view of %s takes at most 100 kB", async (path) => {
    await open();
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    let bytes = 0;
    session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
    await go(path, "networkidle");
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(100_000);
  });
});
