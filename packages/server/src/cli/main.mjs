// This file is plain JavaScript. For TypeScript, Node would load its type stripper before the compile cache is set up, and that took a
// quarter of a start.
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { freshBundle } from "../bundle/fresh-bundle.mjs";

// The code that V8 has compiled is kept between starts, also for the processes of engines. If the folder cannot be written, everything is
// compiled each time. The cache is set up before anything else is loaded.
const folder = join(import.meta.dirname, "../../../../node_modules/.cache/parley");
process.env["NODE_COMPILE_CACHE"] ??= folder;
enableCompileCache(folder);

// `node --watch` restarts the server when one of its loaded files changes. The bundle would hide the sources from it.
const isWatched = process.env["WATCH_REPORT_DEPENDENCIES"] !== undefined;
const bundle = isWatched ? undefined : freshBundle();
await import(bundle === undefined ? "./program.ts" : pathToFileURL(bundle).href);
