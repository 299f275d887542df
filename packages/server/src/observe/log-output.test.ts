import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { LogOutput } from "./log-output.ts";

const { O_NONBLOCK, O_RDWR } = constants;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-log-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A pipe whose reader reads when it is told to. */
function makePipe(): number {
  const path = join(folder, `pipe-${randomUUID()}`);
  execFileSync("mkfifo", [path]);
  return openSync(path, O_RDWR | O_NONBLOCK);
}

const line = `${"x".repeat(1023)}\n`;

test("a reader that has stopped reading costs lines beyond the bound; when it reads again, it is told how many", async () => {
  const pipe = makePipe();
  const { promise: recovered, resolve } = Promise.withResolvers<number>();
  const output = new LogOutput(pipe, resolve);
  for (let count = 0; count < 2048; count += 1) output.write(line);
  expect(output.lost).toBeGreaterThan(900); // two mebibytes, of which one may wait
  expect(output.lost).toBeLessThan(1200);
  const buffer = Buffer.alloc(65_536);
  const reader = setInterval(() => {
    try {
      while (readSync(pipe, buffer) > 0);
    } catch {
      // Nothing is there now.
    }
  }, 1);
  expect(await recovered).toBe(output.lost);
  clearInterval(reader);
  closeSync(pipe);
}, 30_000);

test("a full disk takes nothing, and the end does not wait for it longer than allowed", async () => {
  const output = new LogOutput(openSync("/dev/full", "w"), () => undefined);
  for (let count = 0; count < 2048; count += 1) output.write(line);
  expect(output.lost).toBeGreaterThan(900);
  await output.end(200);
  output.write(line);
});

test("the end writes every line that waits, also behind one that is being written", async () => {
  const path = join(folder, "log");
  const output = new LogOutput(openSync(path, "w"), () => undefined);
  for (let count = 0; count < 100; count += 1) output.write(`${count}\n`);
  await output.end(10_000);
  expect(readFileSync(path, "utf8")).toBe(Array.from({ length: 100 }, (_, count) => `${count}\n`).join(""));
});

test("a reader that stays away does not keep the process alive after the end", async () => {
  const output = new LogOutput(makePipe(), () => undefined);
  for (let count = 0; count < 2048; count += 1) output.write(line);
  await output.end(100);
  await vi.waitFor(() => expect(process.getActiveResourcesInfo()).not.toContain("FSReqCallback"), { timeout: 5000 });
});
