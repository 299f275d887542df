import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { savingMemory } from "./saving-memory.ts";

/** Keeps some 20 MB, and lets go of ever more objects that have lived for a moment. Prints the most bytes of its heap. */
const program = `
  const kept = Array.from({ length: 200_000 }, (_, index) => ({ index, text: String(index) }));
  const latest = [];
  let peak = 0;
  for (let round = 0; round < 300; round += 1) {
    latest.push(Array.from({ length: 20_000 }, (_, index) => ({ index })));
    if (latest.length > 5) latest.shift();
    peak = Math.max(peak, process.memoryUsage().heapUsed);
  }
  console.log(peak, kept.length);
`;

function peakWith(flags: readonly string[]): number {
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, "--eval", program], { encoding: "utf8" });
  expect(stderr).toBe("");
  return Number(stdout.split(" ")[0]);
}

test("an engine's process has less garbage than an ordinary one", () => {
  expect(peakWith(savingMemory)).toBeLessThan(0.7 * peakWith([]));
  for (const flag of savingMemory) {
    const others = savingMemory.filter((other) => other !== flag);
    expect(peakWith(savingMemory), `without ${flag}`).toBeLessThan(0.9 * peakWith(others));
  }
});
