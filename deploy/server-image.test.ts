import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { untilReady } from "../ci/until-ready.ts";

const run = promisify(execFile);
const docker = async (...args: readonly string[]): Promise<string> => (await run("docker", args)).stdout.trim();

function hasDocker(): boolean {
  try {
    execFileSync("docker", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The image, which the step `image` builds before this suite. */
const tag = "parley/server";
const key = `image-${randomBytes(12).toString("hex")}`;

describe.skipIf(!hasDocker())("the image in a container (it would run with a Docker engine)", () => {
  let id: string;
  beforeAll(async () => {
    const closed = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
    id = await docker(
      "run",
      "--detach",
      ...closed,
      "--publish",
      "127.0.0.1::8080",
      "--env",
      `PARLEY_API_KEY=${key}`,
      tag,
    );
  });
  afterAll(() => docker("rm", "--force", "--volumes", id));

  test("becomes healthy, with a root file system that nobody can write", async () => {
    await expect
      .poll(() => docker("inspect", "--format", "{{.State.Health.Status}}", id), { timeout: 60_000, interval: 500 })
      .toBe("healthy");
  });

  test("runs as a user that is not root, and as the first process", async () => {
    expect(await docker("exec", id, "node", "-p", "process.getuid() > 0")).toBe("true");
    expect(await docker("exec", id, "node", "-p", "fs.readFileSync('/proc/1/cmdline', 'utf8').split('\\0')[0]")).toBe(
      "node",
    );
  });

  test("answers a chat", async () => {
    const address = (await docker("port", id, "8080")).split("\n")[0];
    await untilReady(`http://${address}`, key);
    const response = await fetch(`http://${address}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "vendor/model-1",
        messages: [{ role: "user", content: "What is a rollup?" }],
        max_tokens: 20,
      }),
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ object: "chat.completion" });
  });

  test("runs the server from a bundle of its own sources, and has no bundler", async () => {
    const look =
      'import("/parley/packages/server/src/bundle/fresh-bundle.mjs").then((it) => console.log(it.freshBundle()))';
    expect(await docker("exec", id, "node", "-e", look)).toMatch(/^\/parley\/packages\/server\/dist\/program-/);
    expect(await docker("exec", id, "find", "/parley", "-name", "*rolldown*", "-not", "-path", "*/dist/*")).toBe("");
  });

  test("has no tests, no training and no weights in a second form in it", async () => {
    const files = await docker("exec", id, "find", "/parley", "-not", "-path", "*/node_modules/*", "-type", "f");
    expect(files.split("\n").filter((file) => /\.test\.ts$|\/training\/|\.safetensors$/.test(file))).toEqual([]);
  });

  test("ends with 0 when it is stopped", async () => {
    await docker("stop", "--time", "40", id);
    expect(await docker("inspect", "--format", "{{.State.ExitCode}}", id)).toBe("0");
  });
});
