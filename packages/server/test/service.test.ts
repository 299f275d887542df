import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatInit, play, until } from "@parley/server/testing";
import { settings } from "../src/config/settings.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** The unit as it is shipped, with the folder of this checkout instead of /opt/parley. */
const unit = readFileSync(join(root, "deploy/parley.service"), "utf8").replaceAll(
  "/opt/parley",
  root.replace(/\/$/, ""),
);
const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";

function hasSystemd(): boolean {
  try {
    execFileSync("systemd-analyze", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-service-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the unit for systemd", () => {
  test("starts the server as its main process, and SIGTERM to it lets a stream end", async () => {
    const script = join(folder, "script.json");
    const slow = [{ text: "a" }, { wait_ms: 700 }, { text: "b" }, { finish: "stop" }];
    writeFileSync(script, JSON.stringify({ scenarios: { slow } }));
    const key = "environment-key-0123456789";
    const [command = "", ...args] = valueOf("ExecStart").split(" ");
    const child = spawn(command, args, {
      cwd: valueOf("WorkingDirectory"),
      env: {
        PATH: process.env["PATH"],
        PARLEY_ENGINE: "scripted",
        PARLEY_SCRIPT: script,
        PARLEY_DATA_DIR: folder,
        PARLEY_API_KEY: key,
        PORT: "0",
        PARLEY_METRICS_PORT: "off",
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const closed = once(child, "close");
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
    const url = await until(
      () => /Base URL\s+(\S+)/.exec(stderr)?.[1],
      (found) => found !== undefined,
      45_000,
    );
    // The process that systemd knows is the server, not a parent of the server.
    expect(readFileSync(join(folder, "server.pid"), "utf8").trim()).toBe(String(child.pid));
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/chat/completions`, chatInit({ ...play("slow"), stream: true }, { headers }));
    child.kill("SIGTERM");
    expect(await answer.text()).toContain("[DONE]");
    await closed;
    expect(child.exitCode).toBe(0);
    expect(stderr).toContain("Parley has stopped.");
  });

  test.skipIf(!hasSystemd())("has no key or value that systemd-analyze does not know", async () => {
    const file = join(folder, "parley.service");
    // The guide creates the user of the unit, and this test does not.
    writeFileSync(file, unit.replace(/^User=.*$/m, "User=root"));
    const { stdout, stderr } = await promisify(execFile)("systemd-analyze", ["verify", "--man=no", file]);
    expect(stdout + stderr).not.toContain("parley.service");
  });

  test.skipIf(!hasSystemd())("is as closed as the guide says", async () => {
    const file = join(folder, "parley.service");
    writeFileSync(file, unit);
    const guide = readFileSync(join(root, "docs/guides/services.md"), "utf8");
    const exposure = Number(/rates it less than (\d+) of 10/.exec(guide)?.[1]);
    const rate = ["security", "--offline=true", `--threshold=${exposure * 10}`, file];
    expect((await promisify(execFile)("systemd-analyze", rate)).stdout).toContain("Overall exposure level");
  });

  test("gives the server its default time to drain, and 10 seconds to stop its engines", () => {
    const drainMs = settings.drainMs.schema.parse(undefined);
    expect(Number(valueOf("TimeoutStopSec")) * 1000).toBeGreaterThan(drainMs + 10_000);
    expect(unit).toContain(`(${settings.drainMs.env}, ${drainMs / 1000})`);
  });

  test("sets only variables that the server reads", () => {
    const names = Array.from(unit.matchAll(/^Environment=(\w+)=/gm), ([, name]) => name);
    expect(names).toContain("PARLEY_DATA_DIR");
    expect(names.filter((name) => !Object.values(settings).some(({ env }) => env === name))).toEqual([]);
  });
});
