import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { savingMemory } from "../src/child/saving-memory.ts";
import { startMini, startScripted } from "./start-engines.ts";

/** Lines of V8's own list that name a flag, such as ` --max-semi-space-size (max size …)`. */
const known = new Set(
  execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8", maxBuffer: 2 ** 24 }).match(/^ {2}--[\w-]+/gm),
);

test.each(savingMemory)("this Node knows %s", (flag) => {
  expect(known).toContain(`  ${flag.split("=")[0]}`);
});

test.runIf(process.platform === "linux").each([
  ["embedded", () => startMini()],
  ["scripted", () => Promise.resolve(startScripted())],
] as const)("the process of the %s engine runs with all of them", async (_driver, start) => {
  await using started = await start();
  await started.engine.whenReady();
  const [, ...args] = readFileSync(`/proc/${started.engine.pid}/cmdline`, "utf8").split("\0");
  // Arguments after the program belong to the program.
  const flags = args.slice(
    0,
    args.findIndex((arg) => arg.endsWith(".ts")),
  );
  expect(flags).toEqual(savingMemory);
});
