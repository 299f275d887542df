// Plain JavaScript: Node would load its stripper of types for this file, before there is a cache that knows what it gave. That took a
// quarter of a start.
import { enableCompileCache } from "node:module";
import { join } from "node:path";

// What V8 makes of the code is kept between starts, for the processes of engines, too. Where the folder cannot be written, everything is
// compiled each time. It is set up before anything else is loaded.
const folder = join(import.meta.dirname, "../../../../node_modules/.cache/parley");
process.env["NODE_COMPILE_CACHE"] ??= folder;
enableCompileCache(folder);

await import("./program.ts");
