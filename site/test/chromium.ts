import { existsSync } from "node:fs";
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

/** Records errors of the console, failed requests, and requests to other hosts than `origin`. */
export function watchTroubles(page: Page, origin: string): string[] {
  const troubles: string[] = [];
  page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("requestfailed", (request) => troubles.push(`failed: ${request.url()}`));
  page.on("request", (request) => request.url().startsWith(origin) || troubles.push(`foreign: ${request.url()}`));
  return troubles;
}
