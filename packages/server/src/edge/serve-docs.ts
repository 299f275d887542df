import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import express, { Router } from "express";

const siteFolder = fileURLToPath(new URL("../../../../docs/site", import.meta.url));

/** Everything is in the pages themselves: nothing is loaded from elsewhere, and nothing is sent there. */
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'";

const offeredFolder = join(siteFolder, "contract");

/** The contract in every form, and requests for tools. Each has an ETag: tools ask again whether it has changed. */
const serveOffered = express.static(offeredFolder, {
  setHeaders: (res, path) => {
    if (path.endsWith(".yaml")) res.setHeader("content-type", "application/yaml; charset=utf-8");
    if (path.endsWith(".http")) res.setHeader("content-type", "text/plain; charset=utf-8");
  },
});

/** The contract itself and the pages made from it, without a key. */
export function serveDocs(): Router {
  const router = Router();
  let reference: Promise<Buffer> | undefined;
  router.get(
    readdirSync(offeredFolder).map((name) => `/${name}`),
    serveOffered,
  );
  router.get("/docs", async (_req, res) => {
    reference ??= assembleReference();
    res.setHeader("content-security-policy", policy);
    res.type("html").send(await reference);
  });
  router.use("/docs", express.static(siteFolder, { extensions: ["html"], index: "index.html", redirect: false }));
  for (const folder of ["errors", "guides"])
    router.get(`/docs/${folder}`, (_req, res) => res.sendFile(join(siteFolder, folder, "index.html")));
  router.get("/", (_req, res) => res.redirect("/docs"));
  return router;
}

/**
 * One page that works offline and when it is saved: the program takes the place of its marker. As bytes, which all answers
 * share; of a text each of them would hold a copy.
 */
async function assembleReference(): Promise<Buffer> {
  const [page, program] = await Promise.all(
    ["index.html", "redoc.js"].map((name) => readFile(join(siteFolder, name), "utf8")),
  );
  return Buffer.from((page ?? "").replace("/* redoc.js */", () => program ?? ""));
}

/** False in a checkout whose pages have not been built. */
export const hasDocs = (): boolean => existsSync(join(siteFolder, "index.html"));
