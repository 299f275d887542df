import { existsSync, readFileSync, readdirSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";

/** The pages of the running server, as a browser shows them. */

const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const quiet = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** The paths of the guides' pages. */
const guides = readdirSync(new URL("../../docs/site/guides", import.meta.url))
  .filter((name) => name.endsWith(".html"))
  .map((name) => `/docs/guides/${name}`);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe("over HTTP", () => {
  test.each([
    ["/docs", "text/html"],
    ["/docs/guides", "text/html"],
    ["/docs/guides/reading-streams", "text/html"],
    ["/docs/errors", "text/html"],
    ["/docs/errors/invalid_value", "text/html"],
    ["/openapi.json", "application/json"],
    ["/openapi.yaml", "application/yaml"],
    ["/openapi-3.0.json", "application/json"],
    ["/openapi-3.0.yaml", "application/yaml"],
    ["/openapi-3.2.json", "application/json"],
    ["/openapi-3.2.yaml", "application/yaml"],
    ["/streams.json", "application/json"],
    ["/workflows.arazzo.yaml", "application/yaml"],
    ["/parley.http", "text/plain"],
    ["/schemathesis.toml", "text/plain"],
    ["/parley.postman_collection.json", "application/json"],
  ])("%s is served without a key", async (path, type) => {
    const response = await fetch(`${server.origin}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain(type);
  });

  test.each(["/openapi-3.0.json", "/streams.json"])("%s is not sent again if it has not changed", async (path) => {
    const first = await fetch(server.origin + path);
    const etag = first.headers.get("etag") ?? "";
    await first.arrayBuffer();
    // Without this `cache-control`, fetch would request a fresh copy.
    const headers = { "if-none-match": etag, "cache-control": "max-age=0" };
    const again = await fetch(server.origin + path, { headers });
    expect([etag, again.status]).toEqual([expect.stringMatching(/^(W\/)?"/), 304]);
  });

  test("every program that the guide to generators names as working has a page", async () => {
    const guide = await (await fetch(`${server.origin}/docs/guides/generators`)).text();
    const links = [...guide.matchAll(/href="(\/docs\/guides\/programs\/[^"]+)"/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThanOrEqual(10);
    const statuses = await Promise.all(links.map(async (link) => (await fetch(server.origin + link)).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test.each(guides)("the links of the guide %s lead somewhere on this server", async (path) => {
    const text = await (await fetch(server.origin + path)).text();
    const targets = [...text.matchAll(/href="(\/[^"]*)"/g)].map(([, target = ""]) => target);
    expect(targets).toContain("/docs");
    const answers = await Promise.all(targets.map((target) => fetch(server.origin + target)));
    expect(targets.filter((_, index) => !answers[index]?.ok)).toEqual([]);
  });

  test("the reference is one page: its program is in it, and it names no other host", async () => {
    const page = await (await fetch(`${server.origin}/docs`)).text();
    expect(page).toContain("const __redoc_definition");
    expect(page).not.toContain("/* redoc.js */");
    expect(page.match(/src="https?:|<link[^>]+href="https?:/g)).toBeNull();
  });
});

describe.skipIf(executablePath === undefined)("in a browser (it would run with Debian's chromium installed)", () => {
  let browser: Browser;
  let page: Page;
  const troubles: string[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({ ...(executablePath !== undefined && { executablePath }), args: quiet });
    page = await browser.newPage();
    page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
    page.on(
      "request",
      (request) =>
        !request.url().startsWith(server.origin) && !request.url().startsWith("data:") && troubles.push(request.url()),
    );
  });
  afterAll(() => browser.close());

  test("the reference shows its operations and loads nothing from elsewhere", async () => {
    await page.goto(`${server.origin}/docs`);
    await page.getByRole("heading", { name: "Quick start" }).waitFor();
    expect(await page.locator("body").innerText()).toContain("/v1/chat/completions");
    expect(troubles).toEqual([]);
  });

  test("the reference leads to the files that the server offers", async () => {
    // A separate page, because for JSON the browser requests an icon that does not exist.
    const reference = await browser.newPage();
    await reference.goto(`${server.origin}/docs`);
    await reference.getByRole("link", { name: "/streams.json" }).click();
    await reference.waitForURL("**/streams.json");
    expect(await reference.locator("body").innerText()).toContain("x-streams");
    await reference.close();
  });

  test("the reference shows whole streams at their operation, event by event", async () => {
    await page.goto(`${server.origin}/docs#/chat/createchatcompletion`);
    await page.getByRole("button", { name: "Response media type" }).click();
    await page.getByRole("menuitem", { name: "text/event-stream" }).click();
    await page.getByRole("button", { name: "Example" }).last().click();
    await page.getByRole("menuitem", { name: "Whole stream: a short answer" }).click();
    await page.getByText("Show more").click();
    const shown = await page.locator("pre", { hasText: "data: " }).innerText();
    expect(shown.trim()).toBe(
      readFileSync(new URL("../../openapi/examples/stream-plain.sse", import.meta.url), "utf8").trim(),
    );
    expect(troubles).toEqual([]);
  });

  test("every guide of the list has a page that loads nothing from elsewhere, and shows its code", async () => {
    await page.goto(`${server.origin}/docs/guides`);
    const titles = await page.locator("li a").allInnerTexts();
    expect(titles).toContain("Read a stream in your language");
    for (const title of titles) {
      await page.goto(`${server.origin}/docs/guides`);
      await page.getByRole("link", { name: title }).click();
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    }
    await page.goto(`${server.origin}/docs/guides/reading-streams`);
    expect(await page.locator("pre", { hasText: "package parley" }).count()).toBe(1);
    expect(troubles).toEqual([]);
  });

  test("the guide to generators leads to the program of each tool", async () => {
    await page.goto(`${server.origin}/docs/guides/generators`);
    await page.getByRole("link", { name: "oapi-codegen" }).click();
    await page.getByRole("heading", { name: "Go with oapi-codegen", level: 1 }).waitFor();
    expect(await page.locator("pre", { hasText: "func main()" }).count()).toBe(1);
    expect(troubles).toEqual([]);
  });

  test("the page that an error links to says what to do", async () => {
    const { headers } = await fetch(`${server.baseUrl}/models`);
    const target = /<([^>]+)>; rel="help"/.exec(headers.get("link") ?? "")?.[1] ?? "";
    await page.goto(`${server.origin}${target}`);
    expect(await page.getByRole("heading", { name: "invalid_api_key" }).count()).toBe(1);
    expect(await page.getByRole("heading", { name: "What to do" }).count()).toBe(1);
  });
});
