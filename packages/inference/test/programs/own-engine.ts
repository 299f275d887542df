import { createInterface } from "node:readline";
import { startMini, startScripted } from "../start-engines.ts";

/**
 * A small program that owns an engine, for tests of how the two end. It starts the engine and prints its process and folder
 * once it is ready. Then it returns without telling the engine (`leave`), stays until its input ends (`stay`), or closes an
 * engine that is frozen (`close`).
 */
async function main([driver, then]: readonly string[]): Promise<void> {
  const { engine, runFolder } = driver === "embedded" ? await startMini() : startScripted();
  await engine.whenReady();
  console.log(JSON.stringify({ pid: engine.pid, runFolder }));
  if (then === "close") {
    process.kill(engine.pid ?? 0, "SIGSTOP");
    await engine.close(50);
  }
  if (then === "stay") for await (const line of createInterface({ input: process.stdin })) console.log(line);
}

await main(process.argv.slice(2));
