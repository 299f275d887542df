import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collect, runProfileOf } from "../mutants/judge.ts";
import type { Evidence } from "../src/run/perform-steps.ts";
import { toHtml } from "../src/report/html.ts";
import { buildReport } from "../src/report/report.ts";
import type { Report } from "../src/report/report.ts";
import { toTerminal } from "../src/report/terminal.ts";
import { assess } from "../src/run/assess.ts";
import { soundReply, startHttp } from "./preflight/stub-service.ts";

let report: Report;
let evidence: Evidence;
beforeAll(async () => {
  await using stub = await startHttp(soundReply(["m"]));
  const secrets = new Map([["key", "right-key-4711"]]);
  const server = { baseUrl: `http://127.0.0.1:${stub.port}/v1`, secrets, profile: { model: "m" } };
  const judging = { server, levels: ["core", "stream"] as const };
  evidence = await collect(judging);
  const profile = runProfileOf(judging);
  report = buildReport(assess(evidence, profile), evidence, profile, 4711, {
    keyVariable: "API_KEY",
    folder: "report",
  });
}, 60_000);

describe("the terminal", () => {
  test("gets at most 80 lines of at most 120 columns from a service that breaks dozens of clauses", () => {
    expect((report.counts.FAIL ?? 0) > 50).toBe(true);
    const lines = toTerminal(report).split("\n");
    expect(lines.length).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
    expect(lines.findIndex((line) => line.startsWith("FAIL "))).toBeGreaterThan(
      lines.findIndex((line) => line.startsWith("STRM ")),
    );
    expect(toTerminal(report)).toMatch(/^… and \d+ more; --verbose shows them all\.$/m);
    expect(toTerminal(report)).toMatch(/^Next: .+`explain [A-Z]+-\d\d`/m);
  });

  test("gets every failure with its command if it is verbose", () => {
    const text = toTerminal(report, { isVerbose: true });
    for (const { id, curl } of report.clauses.filter(({ state }) => state === "FAIL")) {
      expect(text).toMatch(new RegExp(`^FAIL ${id} `, "m"));
      if (curl !== undefined) expect(text).toContain(curl);
    }
  });

  test("gets colours only if it is asked for, and they change no text", () => {
    const plain = toTerminal(report);
    const coloured = toTerminal(report, { hasColours: true });
    expect(plain).not.toContain("\u001B");
    expect(coloured).toContain("\u001B[31m");
    // oxlint-disable-next-line eslint/no-control-regex
    expect(coloured.replaceAll(/\u001B\[\d+m/g, "")).toBe(plain);
  });
});

test("a clause that fails for two reasons is shown once", () => {
  const [first, second, third] = report.clauses.filter(({ state }) => state === "FAIL").map(({ id }) => id);
  if (first === undefined || second === undefined || third === undefined) throw new Error("it breaks dozens");
  const causes = [
    { clause: first, cause: "one reason", also: [third] },
    { clause: second, cause: "another reason", also: [third] },
  ];
  const html = toHtml({ ...report, causes }, evidence);
  expect(html.match(new RegExp(`class="clause" id="${third}"`, "g"))).toHaveLength(1);
});

const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const sizes = [1280, 390].flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ width, scheme })));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe.skipIf(executablePath === undefined)("the page (it would run with Debian's chromium installed)", () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-conformance-page-"));
    writeFileSync(join(folder, "report.html"), toHtml(report, evidence));
    browser = await chromium.launch({
      ...(executablePath !== undefined && { executablePath }),
      args: ["--no-sandbox", "--disable-gpu"],
    });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(width: number, colorScheme: "light" | "dark", bypassCSP = false): Promise<Page> {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, bypassCSP });
    const page = await context.newPage();
    await page.goto(`file://${join(folder, "report.html")}`);
    return page;
  }

  test.each(sizes)(
    "has no sideways scroll and nothing for axe to find at $width px, $scheme",
    async ({ width, scheme }) => {
      const page = await open(width, scheme, true);
      const widthOf = (): Promise<unknown> => page.evaluate("document.documentElement.scrollWidth");
      expect(await widthOf()).toBe(width);
      expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThan(10_000);
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      expect(await widthOf()).toBe(width);
      expect(
        await page.evaluate(
          "[...document.querySelectorAll('.id')].filter((id) => id.getClientRects().length > 1).length",
        ),
      ).toBe(0);
      await page.addScriptTag({ content: axe });
      expect(await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))")).toEqual([]);
      await page.context().close();
    },
    60_000,
  );

  test("filters by state, chapter and text, opens the exchange of a link, and copies a command", async () => {
    const page = await open(1280, "light");
    const shown = (): Promise<unknown> =>
      page.evaluate(
        "[...document.querySelectorAll('details.clause:not([hidden]) > summary > .id:first-child')].map((one) => one.textContent)",
      );
    expect(await shown()).toHaveLength(report.clauses.length);
    await page.selectOption("select[name=state]", "broken");
    await page.selectOption("select[name=chapter]", "AUTH");
    const broken = report.clauses.filter(
      ({ id, state }) => id.startsWith("AUTH-") && (state === "FAIL" || state === "WARN"),
    );
    expect(((await shown()) as string[]).toSorted()).toEqual(broken.map(({ id }) => id).toSorted());
    await page.fill("input[type=search]", "x-request-id never said");
    expect(await shown()).toEqual([]);
    await page.selectOption("select[name=chapter]", "");
    await page.fill("input[type=search]", "HTTP-04");
    await page.click("#HTTP-04 > summary");
    await page.click("#HTTP-04 button.copy");
    await expect.poll(() => page.textContent("#HTTP-04 button.copy")).toMatch(/Copied|Selected/);
    await page.click("#HTTP-04 a");
    expect(await page.evaluate("document.querySelector('details.exchange[open] pre').checkVisibility()")).toBe(true);
    await page.context().close();
  }, 60_000);

  test("shows text in backticks as code, and is complete without its script", () => {
    const html = toHtml(report, evidence);
    expect(html).toContain("<code>total_tokens</code>");
    const texts = html.replaceAll(/<pre[^>]*>.*?<\/pre>|<script>.*?<\/script>/gs, "");
    expect(texts.match(/.{0,60}`[^`<]+`.{0,60}/g) ?? []).toEqual([]);
    expect(html).not.toMatch(/<details class="[^"]+" id="[^"]+" hidden/);
    expect(html).not.toMatch(/(?:src|href)="https?:/);
  });
});
