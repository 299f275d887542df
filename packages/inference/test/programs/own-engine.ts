import { createInterface } from "node:readline";
import { startMini, startScripted } from "../start-engines.ts";

/**
 * A server in miniature, for tests of how engine and owner end: starts an engine, says its process and its folder once it
 * is ready, and then returns without a word to the engine (`leave`), stays until its input ends (`stay`), or closes the
 * engine although that stands still (`close`).
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
