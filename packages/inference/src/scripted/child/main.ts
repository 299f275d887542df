import { endWithParent } from "../../child/end-with-parent.ts";
import { sendStatus, serveEngine } from "../../child/serve.ts";
import type { EngineMetadata } from "../../engine.ts";
import { scriptedCore } from "./core.ts";
import { ScriptError, readScript } from "./read-script.ts";

/** The process of one scripted engine. */
async function main([socketPath = "", metadataText = "", scriptFile]: readonly string[]): Promise<void> {
  endWithParent();
  // Our own driver wrote the metadata.
  const metadata = JSON.parse(metadataText) as EngineMetadata;
  await serveEngine(scriptedCore(await readScript(scriptFile)), socketPath);
  sendStatus({ status: "ready", metadata });
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof ScriptError)) throw error;
  sendStatus({ status: "fatal", message: error.message });
});
