import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import express, { Router } from "express";
import type { RequestHandler } from "express";
import type { Config } from "../config/read-config.ts";
import { isDemo } from "../config/read-models.ts";

/** Everything is in the pages themselves: nothing is loaded from elsewhere, and nothing is sent there. */
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'";

/** The contract in every form, and requests for tools. Each has an ETag: tools ask again whether it has changed. */
const serveOffered = (folder: string): RequestHandler =>
  express.static(folder, {
    setHeaders: (res, path) => {
      if (path.endsWith(".yaml")) res.setHeader("content-type", "application/yaml; charset=utf-8");
      if (path.endsWith(".http") || path.endsWith(".toml")) res.setHeader("content-type", "text/plain; charset=utf-8");
    },
  });

/** The contract itself and the pages made from it, without a key. @param site the folder with both, see `brandSite` */
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
    // A page that could not be read is read again for the next reader.
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

/** Above the reference, where a demonstration model answers. */
const demoNotice =
  '<p style="margin:0;padding:.5em 1em;background:#fff3cd;font-family:sans-serif">These are small demonstration models, often wrong outside of what they were taught. ' +
  "To serve your own, set <code>PARLEY_MODEL_1_GGUF</code>: see docs/guides/own-model.md in the repository.</p>";

/**
 * One page that works offline and when it is saved: the program takes the place of its marker. As bytes, which all answers
 * share; of a text each of them would hold a copy.
 */
async function assembleReference(site: string, notice: string): Promise<Buffer> {
  const [page, program] = await Promise.all(
    ["index.html", "redoc.js"].map((name) => readFile(join(site, name), "utf8")),
  );
  const noticed = (page ?? "").replace("<body>", `<body>${notice}`);
  return Buffer.from(noticed.replace("/* redoc.js */", () => program ?? ""));
}
