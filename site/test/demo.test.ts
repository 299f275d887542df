import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { builtSite } from "../src/built-site.ts";
import { executablePath, launchChromium, watchTroubles } from "./chromium.ts";

/** The built site on a host that has files only, without a Parley. */

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
};

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

function serveFiles(folder: string): Server {
  return createServer(({ url = "/" }, res) => {
    const path = join(folder, new URL(url, "http://host").pathname);
    const file = [path, `${path}.html`].find((one) => isFile(one));
    if (file === undefined) return void res.writeHead(404).end("Not found");
    res.writeHead(200, { "content-type": types[extname(file)] ?? "text/html" }).end(readFileSync(file));
  }).listen(0, "127.0.0.1");
}

describe.skipIf(executablePath === undefined)("in a browser (it would run with Debian's chromium installed)", () => {
  let host: Server;
  let origin: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let troubles: string[];

  beforeAll(async () => {
    host = serveFiles(await builtSite(undefined));
    await new Promise((resolve) => host.once("listening", resolve));
    origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`; // it listens on a port
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    host?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    troubles = watchTroubles(page, origin);
  });
  afterEach(() => context.close());

  async function open(path: string): Promise<void> {
    await page.goto(origin + path);
    await page.getByText("This is a demo.").waitFor();
    await page.getByText("2 models for this key").waitFor();
    await page.locator(":is(.try, .chat):not([inert])").waitFor();
  }

  const choices = () => page.locator("#choices");
  const send = () => page.getByRole("button", { name: "Send", exact: true }).click();

  test("it switches itself on, says so, lists models and streams", async () => {
    await open("/docs/try");
    expect(await page.getByRole("switch", { name: "Demo" }).isChecked()).toBe(true);
    await page.getByLabel("Content of message 1").fill("Anything");
    await send();
    await choices().getByText("This is the demo.").waitFor();
    expect(await choices().innerText()).not.toContain("of the model.");
    await page.getByText("The whole answer took").waitFor();
    expect(await choices().innerText()).toContain("of the model.");
    expect(await page.locator("#cost b").innerText()).toMatch(/^\$0\.0/);
    // The page has asked whether a service is there. Nothing else failed, and nothing went to another host.
    expect(troubles).toEqual([expect.stringContaining("404")]);
  });

  test("stop ends the answer", async () => {
    await open("/docs/try");
    await page.getByLabel("Content of message 1").fill("Anything");
    await send();
    await choices().getByText("This is the demo.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Stopped after").waitFor();
    expect(await choices().innerText()).not.toContain("of the model.");
  });

  test("it shows a 401, a 400 with param, a 429 with its wait, and a failure in mid-stream", async () => {
    await open("/docs/try");
    const failure = page.locator("#failure");
    await page.getByLabel("Example").selectOption("fault");
    await send();
    await failure.getByText("HTTP 400").waitFor();
    expect(await page.locator("#field-top_logprobs-fault").innerText()).toContain("The service says:");
    await page.getByLabel("Example").selectOption("demo-limit");
    await send();
    await failure.getByText("HTTP 429").waitFor();
    expect(await failure.innerText()).toMatch(/Wait \d s, then send it again/);
    await failure.getByRole("button", { name: "Send again" }).click();
    await page.getByText("The whole answer took").waitFor();
    await page.getByLabel("Example").selectOption("demo-failure");
    await send();
    await failure.getByText("The stream failed").waitFor();
    expect(await failure.getByRole("link").innerText()).toBe("upstream_error");
    expect(await choices().innerText()).toContain("Slashing is the");
    await page.getByLabel("Your key").fill("another");
    await send();
    await failure.getByText("HTTP 401").waitFor();
  });

  test("it calls tools, and the playground renders them", async () => {
    await open("/docs/playground");
    await page.getByRole("button", { name: /How much is at/ }).click();
    await page.getByRole("log").getByText("Call of get_balance").first().waitFor();
    await page.getByRole("button", { name: "Send the result" }).click();
    await page.getByText("The answer is complete.").waitFor();
    expect(await page.getByRole("log").innerText()).toContain("ETH");
  });

  test("it works without a network, after the first visit", async () => {
    await open("/docs/try");
    await context.setOffline(true);
    await page.goto(`${origin}/docs/playground`);
    await page.getByText("2 models for this key").waitFor();
    await page.getByLabel("Message", { exact: true }).fill("Anything");
    await page.keyboard.press("Enter");
    await page.getByText("The answer is complete.").waitFor();
    expect(await page.getByRole("log").innerText()).toContain("This is the demo.");
  });
});
