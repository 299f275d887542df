import type { DemoData } from "../../try/demo-answer.ts";

/** The demo: a service worker answers requests that have the header `x-parley-demo`, from recordings. */

const worker = "/docs/demo-worker.js";

/** Checks whether a Parley answers at this address. A static host has the pages only. */
export async function isServiceThere(): Promise<boolean> {
  try {
    const page = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
    await page.text();
    if (page.headers.has("x-request-id")) return true;
    const models = await fetch("/v1/models", { cache: "no-store" });
    return models.headers.has("x-request-id");
  } catch {
    return false;
  }
}

/** Starts the demo, and returns its data. @throws {Error} with a sentence for people if this browser cannot run it */
export async function startDemo(): Promise<DemoData> {
  if (!("serviceWorker" in navigator))
    throw new Error(
      "The demo needs a service worker, and browsers offer it to pages with HTTPS or on this machine only.",
    );
  const answer = await fetch("/docs/demo.json");
  // The build has written this file.
  const data = (await answer.json()) as DemoData;
  await navigator.serviceWorker.register(worker);
  if (!navigator.serviceWorker.controller) {
    await new Promise((resolve) =>
      navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }),
    );
  }
  return data;
}

/** Removes the demo and its files from this browser. */
export async function stopDemo(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const registration = await navigator.serviceWorker.getRegistration(worker);
  await registration?.unregister();
  for (const name of await caches.keys()) if (name.startsWith("parley-demo")) await caches.delete(name);
}
