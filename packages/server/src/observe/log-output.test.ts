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

/** Creates a pipe, which the test reads when it wants to. */
function makePipe(): number {
  const path = join(folder, `pipe-${randomUUID()}`);
  execFileSync("mkfifo", [path]);
  return openSync(path, O_RDWR | O_NONBLOCK);
}

const line = `${"x".repeat(1023)}\n`;

test("lines beyond the bound are lost while the reader does not read, and their number is reported when it reads again", async () => {
  const pipe = makePipe();
  const { promise: recovered, resolve } = Promise.withResolvers<number>();
  const output = new LogOutput(pipe, resolve);
  for (let count = 0; count < 2048; count += 1) output.write(line);
  expect(output.lost).toBeGreaterThan(900); // 2 MiB were written, of which 1 MiB may wait
  expect(output.lost).toBeLessThan(1200);
  const buffer = Buffer.alloc(65_536);
  const reader = setInterval(() => {
    try {
      while (readSync(pipe, buffer) > 0);
    } catch {
      // The pipe is empty now.
    }
  }, 1);
  expect(await recovered).toBe(output.lost);
  clearInterval(reader);
  closeSync(pipe);
}, 30_000);

test("on a full disk, the end does not wait longer than allowed", async () => {
  const output = new LogOutput(openSync("/dev/full", "w"), () => undefined);
  for (let count = 0; count < 2048; count += 1) output.write(line);
  expect(output.lost).toBeGreaterThan(900);
  await output.end(200);
  output.write(line);
});

test("the end writes every waiting line, even while an earlier write is running", async () => {
  const path = join(folder, "log");
  const output = new LogOutput(openSync(path, "w"), () => undefined);
  for (let count = 0; count < 100; count += 1) output.write(`${count}\n`);
  await output.end(10_000);
  expect(readFileSync(path, "utf8")).toBe(Array.from({ length: 100 }, (_, count) => `${count}\n`).join(""));
});

test("a reader that never reads does not keep the process alive after the end", async () => {
  const output = new LogOutput(makePipe(), () => undefined);
  for (let count = 0; count < 2048; count += 1) output.write(line);
  await output.end(100);
  await vi.waitFor(() => expect(process.getActiveResourcesInfo()).not.toContain("FSReqCallback"), { timeout: 5000 });
});
