import { endWithParent } from "../../child/end-with-parent.ts";
import { notify, serveEngine } from "../../child/serve.ts";
import type { EngineFacts } from "../../engine.ts";
import { scriptedCore } from "./core.ts";
import { ScriptError, readScript } from "./read-script.ts";

/** The process of one scripted engine. */
async function main([socketPath = "", factsText = "", scriptFile]: readonly string[]): Promise<void> {
  endWithParent();
  // Our own driver has written the facts.
  const facts = JSON.parse(factsText) as EngineFacts;
  await serveEngine(scriptedCore(await readScript(scriptFile), facts), socketPath);
  notify({ notice: "ready", facts });
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof ScriptError)) throw error;
  notify({ notice: "hopeless", message: error.message });
});
