import { readFile } from "node:fs/promises";
import { endWithParent } from "../../child/end-with-parent.ts";
import { notify, serveEngine } from "../../child/serve.ts";
import type { EngineFacts } from "../../engine.ts";
import type { Script } from "../script.ts";
import { scriptedCore } from "./core.ts";

/** The process of one scripted engine. */
async function main([socketPath = "", factsText = "", scriptFile]: readonly string[]): Promise<void> {
  endWithParent();
  // Our own driver has written the facts, and whoever wants the script read has written that.
  const facts = JSON.parse(factsText) as EngineFacts;
  const script =
    scriptFile === undefined ? { scenarios: {} } : (JSON.parse(await readFile(scriptFile, "utf8")) as Script);
  await serveEngine(scriptedCore(script, facts), socketPath);
  notify({ notice: "ready", facts });
}

await main(process.argv.slice(2));
