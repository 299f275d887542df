import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Config } from "../config/read-config.ts";
import { isDemo } from "../config/read-models.ts";
import type { Exchange } from "../http/exchange.ts";
import { explainMissing, missingPath, withNearestPages } from "./missing-page.ts";
import { hasDocs } from "./open-site.ts";
import type { Site, SiteEntry } from "./open-site.ts";

/** Pages run and load only files of this server: they contain neither scripts nor styles of their own. */
const policy = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "font-src", "connect-src", "worker-src"].map((name) => `${name} 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`),
].join("; ");

/** A browser waits this long for a site that is not built yet. Then it gets {@link waitingPage}. Other clients wait. */
const patienceMs = 300;
const waitSeconds = 1;

/** @param path the path of the request. An address with a fragment would not be loaded again without it. */
const waitingPage = (path: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="${waitSeconds};url=${path.replaceAll(/[^\w./%-]/g, encodeURIComponent)}">
<title>The documentation is being built · Parley</title>
</head>
<body>
<main>
<h1>The documentation is being built</h1>
<p>The first start takes a few seconds for it. This page opens the documentation when it is ready.</p>
<p><progress aria-label="Building"></progress></p>
</main>
</body>
</html>
`;

/** Maximum bytes of files that are kept in memory. Answers share these bytes. */
const maxKeptBytes = 16 * 1024 * 1024;

/**
 * Returns a function that answers requests for the portal and for the documents of the contract, without a key. It returns
 * false for other requests.
 * @param openSite returns the built site; it may take seconds at the first call
 */
export function serveDocs(
  openSite: () => Promise<Site>,
  { models }: Pick<Config, "models">,
): (exchange: Exchange) => Promise<boolean> {
  const files = new FileCache();
  const frontPath = models.some(isDemo) ? "/docs.demo" : "/docs";
  const siteFor = patientFor(openSite);
  return async (exchange) => {
    const { req, path } = exchange;
    if ((req.method !== "GET" && req.method !== "HEAD") || !mayBeSite(path) || !hasDocs()) return false;
    if (path === "/") return redirect(exchange, "/docs");
    const accept = weightsOf(exchange.header("accept") ?? "");
    const isBrowser = (accept.get("text/html") ?? 0) > 0 && !prefersMarkdown(accept);
    const site = await siteFor(isBrowser);
    if (!site) return sendWaitingPage(exchange);
    const { entries } = site;
    const plainPath = path.replace(/(\.html|\/)$/, "");
    if (plainPath !== path && entries.has(plainPath)) return redirect(exchange, plainPath);
    const found = path === missingPath ? undefined : entries.get(path === "/docs" ? frontPath : path);
    if (found) {
      const twin = prefersMarkdown(accept) ? entries.get(`${path}.md`) : undefined;
      return sendEntry(exchange, site, twin ?? found, files);
    }
    if (!path.startsWith("/docs/")) return false;
    const missing = entries.get(missingPath);
    if (!isBrowser || !missing) throw explainMissing(entries, path);
    const page = await files.read(join(site.folder, missing.file));
    return sendPage(exchange, 404, withNearestPages(page.toString(), entries, path));
  };
}

/**
 * Returns a function that opens the site for a request. For a browser it returns undefined if this takes long. After a
 * failure it waits, so that a browser is shown the failure of the next attempt.
 */
function patientFor(openSite: () => Promise<Site>): (isBrowser: boolean) => Promise<Site | undefined> {
  let hasFailed = false;
  return (isBrowser) => {
    const opening = openSite();
    opening.then(
      () => (hasFailed = false),
      () => (hasFailed = true),
    );
    return isBrowser && !hasFailed ? Promise.race([opening, setTimeout(patienceMs, undefined)]) : opening;
  };
}

async function sendEntry(exchange: Exchange, { folder }: Site, entry: SiteEntry, files: FileCache): Promise<true> {
  const { req, res } = exchange;
  const coding = entry.isCompressed ? codingFor(exchange.header("accept-encoding") ?? "") : undefined;
  setHeaders(exchange, entry, coding);
  // The bytes of a coding differ from those of others, so the validator is weak.
  res.setHeader("etag", `W/${entry.etag}`);
  if (exchange.header("if-none-match")?.includes(entry.etag)) return end(exchange, 304);
  const bytes = await files.read(join(folder, entry.file + (coding?.ending ?? "")));
  res.setHeader("content-length", bytes.length);
  return end(exchange, 200, req.method === "HEAD" ? undefined : bytes);
}

/** Every path of the site begins so, or has no further slash. */
const mayBeSite = (path: string): boolean => /^\/(docs(\/.*)?|[\w.-]*)$/.test(path) && !path.startsWith("/v1");

function redirect(exchange: Exchange, location: string): true {
  exchange.res.setHeader("location", location);
  return end(exchange, 302);
}

function end({ res }: Exchange, status: number, body?: Buffer): true {
  res.writeHead(status).end(body);
  return true;
}

interface Coding {
  readonly name: string;
  readonly ending: string;
}

const codings: readonly Coding[] = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
];

/** Returns the smallest content coding that a client accepts. */
const codingFor = (accepted: string): Coding | undefined =>
  codings.find(({ name }) => new RegExp(`(^|[ ,])${name}(?! *; *q=0(\\.0*)?( *,|$))`).test(accepted));

/** Returns the weight of each media range of an `Accept` header. */
const weightsOf = (accept: string): ReadonlyMap<string, number> =>
  new Map(
    accept.split(",").map((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return [type, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );

/** Checks whether a client names Markdown, and does not rank HTML above it. */
function prefersMarkdown(accept: ReadonlyMap<string, number>): boolean {
  const markdown = accept.get("text/markdown") ?? 0;
  return markdown > 0 && markdown >= (accept.get("text/html") ?? 0);
}

function setHeaders({ res }: Exchange, entry: Omit<SiteEntry, "file" | "etag">, coding?: Coding): void {
  res.setHeader("content-type", entry.type);
  res.setHeader("cache-control", entry.isImmutable ? "public, max-age=31536000, immutable" : "no-cache");
  res.appendHeader("vary", "accept, accept-encoding");
  if (coding) res.setHeader("content-encoding", coding.name);
  res.setHeader("content-security-policy", policy);
  res.setHeader("x-content-type-options", "nosniff");
  res.setHeader("referrer-policy", "no-referrer");
}

/** Sends a page that is made for this request. */
function sendPage(exchange: Exchange, status: number, html: string): true {
  setHeaders(exchange, { type: "text/html; charset=utf-8" });
  const bytes = Buffer.from(html);
  exchange.res.setHeader("content-length", bytes.length);
  return end(exchange, status, exchange.req.method === "HEAD" ? undefined : bytes);
}

/** Sends a page that loads itself again, for a site that is not built yet. */
function sendWaitingPage(exchange: Exchange): true {
  exchange.res.setHeader("retry-after", waitSeconds);
  return sendPage(exchange, 503, waitingPage(exchange.path));
}

/** Keeps files in memory, so that many clients who do not read their answers share the same bytes. */
class FileCache {
  readonly #files = new Map<string, Promise<Buffer>>();
  #bytes = 0;

  async read(file: string): Promise<Buffer> {
    const kept = this.#files.get(file);
    if (kept) return kept;
    const reading = readFile(file);
    this.#files.set(file, reading);
    try {
      const { length } = await reading;
      if (this.#bytes + length > maxKeptBytes) {
        this.#files.clear();
        this.#bytes = 0;
      }
      this.#bytes += length;
    } catch (error) {
      // The next request tries again.
      this.#files.delete(file);
      throw error;
    }
    return reading;
  }
}
