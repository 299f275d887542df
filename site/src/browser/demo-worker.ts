import { answerDemo } from "../try/demo-answer.ts";
import type { DemoData } from "../try/demo-answer.ts";

/**
 * The service worker of the demo. It answers requests for `/v1/…` that have the header `x-parley-demo`, from recordings. It
 * also keeps the pages that were seen, so they open without a network.
 */

/** The events and members of a service worker that this one uses. TypeScript's types of pages lack them. */
interface WorkerScope {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate", listener: (event: LifeEvent) => void): void;
  addEventListener(name: "fetch", listener: (event: FetchEvent) => void): void;
}

interface LifeEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

const worker = globalThis as unknown as WorkerScope; // see above
const cacheName = "parley-demo";
const pages = ["/docs/try", "/docs/playground"];

async function loadData(): Promise<DemoData> {
  const address = "/docs/demo.json";
  const answer = await fetch(address).catch(() => caches.match(address));
  if (!answer?.ok) throw new Error("The recordings of the demo could not be loaded.");
  // The build has written this file.
  return (await answer.json()) as DemoData;
}

let data: Promise<DemoData> | undefined;

async function answer(request: Request): Promise<Response> {
  data ??= loadData();
  const key = /^Bearer (.*)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  const { pathname: path } = new URL(request.url);
  return answerDemo(await data, { method: request.method, path, key, body: await request.text() });
}

/** Keeps the pages of the demo and everything that they load. */
async function keepPages(): Promise<void> {
  const cache = await caches.open(cacheName);
  const { files } = await loadData();
  await cache.addAll(["/docs/try.json", "/docs/demo.json", ...files]);
  for (const page of pages) {
    const found = await fetch(page);
    const response = found.ok ? found : await fetch(`${page}.html`);
    // A copy, because a browser refuses to open a page from an answer that was redirected.
    if (response.ok) await cache.put(page, new Response(await response.blob(), { headers: response.headers }));
  }
}

async function fromNetwork(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const { pathname } = new URL(request.url);
    const kept = await caches.match(pathname.replace(/(\.html|\/)$/, ""));
    if (!kept) throw error;
    return kept;
  }
}

worker.addEventListener("install", (event) => event.waitUntil(keepPages().then(() => worker.skipWaiting())));
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (origin !== location.origin) return;
  if (pathname.startsWith("/v1/") && request.headers.has("x-parley-demo")) event.respondWith(answer(request));
  else if (request.method === "GET" && pathname.startsWith("/docs/")) event.respondWith(fromNetwork(request));
});
