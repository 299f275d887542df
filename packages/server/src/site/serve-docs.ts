import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/read-config.ts";
import { isDemo } from "../config/read-models.ts";
import type { Exchange } from "../http/exchange.ts";
import { hasDocs } from "./open-site.ts";
import type { Site, SiteEntry } from "./open-site.ts";

/** Pages run and load only files of this server: they contain neither scripts nor styles of their own. */
const policy = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "font-src", "connect-src", "worker-src"].map((name) => `${name} 'self'`),
  ...["base-uri", "form-action", "frame-ancestors"].map((name) => `${name} 'none'`),
].join("; ");

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
  return async (exchange) => {
    const { req, res, path } = exchange;
    if ((req.method !== "GET" && req.method !== "HEAD") || !mayBeSite(path) || !hasDocs()) return false;
    if (path === "/") return redirect(exchange, "/docs");
    const { folder, entries } = await openSite();
    const plainPath = path.replace(/(\.html|\/)$/, "");
    if (plainPath !== path && entries.has(plainPath)) return redirect(exchange, plainPath);
    const found = entries.get(path === "/docs" ? frontPath : path);
    if (!found) return false;
    const twin = entries.get(`${path}.md`);
    const entry = twin && prefersMarkdown(exchange.header("accept") ?? "") ? twin : found;
    const coding = entry.isCompressed ? codingFor(exchange.header("accept-encoding") ?? "") : undefined;
    setHeaders(exchange, entry, coding);
    if (exchange.header("if-none-match")?.includes(entry.etag)) return end(exchange, 304);
    const bytes = await files.read(join(folder, entry.file + (coding?.ending ?? "")));
    res.setHeader("content-length", bytes.length);
    return end(exchange, 200, req.method === "HEAD" ? undefined : bytes);
  };
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

/** Checks whether a client names Markdown, and does not rank HTML above it. */
function prefersMarkdown(accept: string): boolean {
  const weights = new Map(
    accept.split(",").map((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return [type, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
  const markdown = weights.get("text/markdown") ?? 0;
  return markdown > 0 && markdown >= (weights.get("text/html") ?? 0);
}

function setHeaders({ res }: Exchange, entry: SiteEntry, coding: Coding | undefined): void {
  res.setHeader("content-type", entry.type);
  res.setHeader("cache-control", entry.isImmutable ? "public, max-age=31536000, immutable" : "no-cache");
  // The bytes of a coding differ from those of others, so the validator is weak.
  res.setHeader("etag", `W/${entry.etag}`);
  res.appendHeader("vary", "accept, accept-encoding");
  if (coding) res.setHeader("content-encoding", coding.name);
  res.setHeader("content-security-policy", policy);
  res.setHeader("x-content-type-options", "nosniff");
  res.setHeader("referrer-policy", "no-referrer");
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
