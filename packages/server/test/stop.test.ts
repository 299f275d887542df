import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CliProcess, chatInit, parley, play, until } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "./use-folder.ts";

const folder = useFolder();

const waitForExit = (pid: number): Promise<boolean> =>
  until(
    () => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    },
    (isAlive) => !isAlive,
  );

describe("the end", () => {
  const scenarios = {
    slow: [{ text: "a" }, { wait_ms: 700 }, { text: "b" }, { finish: "stop" }],
    stall: [{ text: "a" }, { stall: true }],
  };

  async function startSlow(
    name: keyof typeof scenarios = "slow",
  ): Promise<{ server: CliProcess; stream: Promise<string>; dataDir: string }> {
    const script = join(folder.path(), "slow.json");
    writeFileSync(script, JSON.stringify({ scenarios }));
    const settings = folder.quick({ PARLEY_API_KEY: "environment-key-0123456789", PARLEY_SCRIPT: script });
    const server = new CliProcess(["start"], settings);
    const headers = { authorization: "Bearer environment-key-0123456789" };
    const url = `${await baseUrlOf(server)}/chat/completions`;
    const response = await fetch(url, chatInit({ ...play(name), stream: true }, { headers }));
    return { server, stream: response.text().catch(() => "cut"), dataDir: settings.env.PARLEY_DATA_DIR };
  }

  test.each(["SIGINT", "SIGTERM"] as const)("%s lets streams end, and exits 0", async (signal) => {
    const { server, stream } = await startSlow();
    await using _server = server;
    server.child.kill(signal);
    await server.says(/Stopping/);
    expect(await stream).toContain("[DONE]");
    expect((await server.result()).code).toBe(0);
    expect(server.stderr).toContain("Parley has stopped.");
  });

  test("a second Ctrl-C is immediate", async () => {
    const { server, stream } = await startSlow("stall");
    await using _server = server;
    server.child.kill("SIGINT");
    await server.says(/Stopping/);
    server.child.kill("SIGINT");
    expect((await server.result()).code).toBe(1);
    expect(await stream).not.toContain("[DONE]");
  });

  test("/ready changes first, and requests are still accepted", async () => {
    const settings = folder.quick({ PARLEY_LAME_DUCK_SECONDS: "4", PARLEY_API_KEY: "environment-key-0123456789" });
    await using server = new CliProcess(["start"], settings);
    const url = await baseUrlOf(server);
    const ready = async (): Promise<unknown> => (await fetch(new URL("/ready", url))).json();
    expect(await ready()).toMatchObject({ status: "ready" });
    server.child.kill("SIGTERM");
    await server.says(/Stopping in 4 s/);
    expect(await ready()).toMatchObject({ status: "draining" });
    const headers = { authorization: "Bearer environment-key-0123456789" };
    expect((await fetch(`${url}/chat/completions`, chatInit({}, { headers }))).status).toBe(200);
    expect((await server.result()).code).toBe(0);
  });

  test("parley stop does it from elsewhere, and waits for it", async () => {
    const { server, stream, dataDir } = await startSlow();
    await using _server = server;
    const stop = await parley(["stop", "--data-dir", dataDir], { cwd: folder.path() });
    expect(stop).toMatchObject({ code: 0, stdout: "" });
    expect(stop.stderr).toContain("It has stopped.");
    expect(await stream).toContain("[DONE]");
    expect((await server.result()).code).toBe(0);
    expect(await parley(["stop", "--data-dir", dataDir], { cwd: folder.path() })).toMatchObject({
      code: 1,
      stderr: `parley: No server uses the data folder ${dataDir}.\n`,
    });
  });

  test("engines do not outlive a server that was killed", async () => {
    const settings = folder.quick();
    await using server = new CliProcess(["start"], settings);
    await baseUrlOf(server);
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(server.child.pid)], { encoding: "utf8" });
    const pids = children.trim().split(/\s+/).map(Number);
    expect(pids.length).toBeGreaterThanOrEqual(2);
    server.child.kill("SIGKILL");
    await Promise.all(pids.map(waitForExit));
  });
});
