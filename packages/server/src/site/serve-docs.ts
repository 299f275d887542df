import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import express, { Router } from "express";
import type { RequestHandler } from "express";
import type { Config } from "../config/read-config.ts";
import { isDemo } from "../config/read-models.ts";

/**
 * Forbids the pages to load anything from other origins or to send anything there. All they need is in the pages
 * themselves.
 */
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'";

/**
 * Serves the contract in each format, and sample requests for HTTP tools. Each file has an ETag, so a tool can ask whether
 * it has changed.
 */
const serveOffered = (folder: string): RequestHandler =>
  express.static(folder, {
    setHeaders: (res, path) => {
      if (path.endsWith(".yaml")) res.setHeader("content-type", "application/yaml; charset=utf-8");
      if (path.endsWith(".http") || path.endsWith(".toml")) res.setHeader("content-type", "text/plain; charset=utf-8");
    },
  });

/**
 * Serves the contract and the pages made from it, without a key.
 * @param site the folder that contains both, see `brandSite`
 */
export function serveDocs(site: string, { models }: Pick<Config, "models">): Router {
  const router = Router();
  const offered = join(site, "contract");
  let reference: Promise<Buffer> | undefined;
  router.get(
    readdirSync(offered).map((name) => `/${name}`),
    serveOffered(offered),
  );
  router.get("/docs", async (_req, res) => {
    reference ??= assembleReference(site, models.some(isDemo) ? demoNotice : "");
    // If the page could not be read, the next request tries again.
    reference.catch(() => (reference = undefined));
    res.setHeader("content-security-policy", policy);
    res.type("html").send(await reference);
  });
  router.use("/docs", express.static(site, { extensions: ["html"], index: "index.html", redirect: false }));
  for (const folder of ["errors", "guides"])
    router.get(`/docs/${folder}`, (_req, res) => res.sendFile(join(site, folder, "index.html")));
  router.get("/", (_req, res) => res.redirect("/docs"));
  return router;
}

/** Shown above the reference if one of the models is a demonstration model. */
const demoNotice =
  '<p style="margin:0;padding:.5em 1em;background:#fff3cd;font-family:sans-serif">These are small demonstration models, often wrong outside of what they were taught. ' +
  "To serve your own, set <code>PARLEY_MODEL_1_GGUF</code>: see docs/guides/own-model.md in the repository.</p>";

/**
 * Returns the reference as one page with its script inlined, so it works offline and when it is saved. All answers share
 * the returned bytes; a string would be copied for each answer.
 */
async function assembleReference(site: string, notice: string): Promise<Buffer> {
  const [page, program] = await Promise.all(
    ["index.html", "redoc.js"].map((name) => readFile(join(site, name), "utf8")),
  );
  const noticed = (page ?? "").replace("<body>", `<body>${notice}`);
  return Buffer.from(noticed.replace("/* redoc.js */", () => program ?? ""));
}
