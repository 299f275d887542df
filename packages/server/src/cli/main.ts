import { enableCompileCache } from "node:module";
import { join } from "node:path";

// What V8 makes of the code is kept between starts, for the processes of engines, too: a third of the processor time of a start. Where the
// folder cannot be written, everything is compiled each time. It is set up before anything else is loaded.
const folder = join(import.meta.dirname, "../../../../node_modules/.cache/parley");
process.env["NODE_COMPILE_CACHE"] ??= folder;
enableCompileCache(folder);

await import("./program.ts");
