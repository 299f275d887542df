import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { errorIndex, errorPage } from "./error-pages.ts";
import { guidePages } from "./guide-pages.ts";
import { showTranscripts } from "./show-transcripts.ts";
import type { Document } from "@parley/contract/document";

/**
 * Builds the docs site: the reference as one page, a page per guide, and a page per error code. The program of the reference is
 * a separate file here, so a change of the contract does not change it. The server joins both into one offline page.
 */

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));

/** The placeholder in `index.html` for the program of the page. */
const programMarker = "/* redoc.js */";

/** Returns every page: its path in the tree and its text. */
export async function buildSite(contract: Document): Promise<Map<string, string>> {
  const { page, program } = await buildReference(showTranscripts(contract));
  const catalog = contract["x-error-catalog"];
  return new Map([
    ["docs/site/index.html", page],
    ["docs/site/redoc.js", program],
    ...(await guidePages()),
    ["docs/site/errors/index.html", errorIndex(catalog)],
    ...Object.entries(catalog).map(
      ([code, entry]) => [`docs/site/errors/${code}.html`, errorPage(code, entry)] as const,
    ),
  ]);
}

async function buildReference(contract: object): Promise<{ readonly page: string; readonly program: string }> {
  const folder = await mkdtemp(join(tmpdir(), "parley-site-"));
  try {
    const source = join(folder, "contract.json");
    const target = join(folder, "index.html");
    await writeFile(source, JSON.stringify(contract));
    await run(
      join(root, "node_modules/.bin/redocly"),
      ["build-docs", source, "--inlineBundle", "--title", "Parley: the reference", "--output", target],
      {
        env: { ...process.env, REDOCLY_TELEMETRY: "off" },
      },
    );
    return splitProgram(await readFile(target, "utf8"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The program is the beginning of the only module of the page, before the contract. */
function splitProgram(html: string): { readonly page: string; readonly program: string } {
  const opening = '<script type="module">';
  const start = html.indexOf(opening) + opening.length;
  const end = html.indexOf("const __redoc_definition");
  if (start < opening.length || end < start)
    throw new Error("the program was not found in the page that Redocly built");
  const page = (html.slice(0, start) + programMarker + html.slice(end)).replace(
    "<title>",
    '<link rel="icon" href="data:,"><title>',
  );
  return { page, program: html.slice(start, end).replace(outsideImage, "data:,") };
}

/** The only external resource of Redocly's page: a logo. */
const outsideImage = "https://cdn.redoc.ly/redoc/logo-mini-full.svg";
