import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";

/** Debian's chromium, if it is installed. */
export const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => existsSync(path));

const quiet = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ ...(executablePath !== undefined && { executablePath }), args: quiet });

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Lets axe judge a page as it is now. Returns the rules that it breaks, each with its first place. */
export async function axeFindings(page: Page): Promise<string[]> {
  // The driver evaluates this outside of the policy of the page.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    // The script above defines it.
    const { axe: judge } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await judge.run()).violations.map(
      ({ id, nodes }) => `${id}, ${nodes.length} times: ${nodes[0]?.html.slice(0, 160)}`,
    );
  });
}

/** Records errors of the console, failed requests, and requests to other hosts than `origin`. */
export function watchTroubles(page: Page, origin: string): string[] {
  const troubles: string[] = [];
  page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("requestfailed", (request) => troubles.push(`failed: ${request.url()}`));
  page.on("request", (request) => request.url().startsWith(origin) || troubles.push(`foreign: ${request.url()}`));
  return troubles;
}
