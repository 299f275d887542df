import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MissingProgramError, prepareSchemathesis } from "../python.ts";
import { startTarget } from "../target.ts";
import type { RunningTarget } from "../target.ts";
import { startMutatingProxy } from "./mutating-proxy.ts";
import type { Mutation } from "./mutating-proxy.ts";

// Schemathesis as an outside user runs it: its own program and the files that the server offers, without hooks or patches of ours.

const program = await prepareSchemathesis().catch((error: unknown) => {
  if (error instanceof MissingProgramError) return undefined;
  throw error;
});

describe.skipIf(program === undefined)("stock Schemathesis (it takes Python 3.11)", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-stock-"));
  let target: RunningTarget;
  beforeAll(async () => {
    target = await startTarget("scripted");
    const configuration = await fetch(`${target.url}/schemathesis.toml`);
    writeFileSync(join(folder, "schemathesis.toml"), await configuration.text());
  });
  afterAll(async () => {
    await target[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  async function run(url: string, document: string, ...flags: readonly string[]) {
    const given = ["run", `${url}/${document}`, "--max-examples", "20", "--seed", "1", "--no-color", ...flags];
    const child = spawn(program ?? "schemathesis", given, {
      cwd: folder,
      env: { ...process.env, PYTHONPATH: "", PARLEY_KEY: target.key },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise<number | null>((resolve) => void child.once("exit", resolve));
    return { output: await text(child.stdout), exitCode: await ended };
  }

  test("finds nothing with the document and the configuration that the guide names", async () => {
    const { output, exitCode } = await run(target.url, "openapi-3.2.json");
    expect([exitCode, output]).toEqual([0, expect.stringMatching(/ (\d{3,}) generated, \1 passed/)]);
    expect(output).not.toMatch(/Authentication failed|Unused|429/);
  }, 120_000);

  const streams = ["--include-operation-id", "createChatCompletion", "--phases", "examples"];
  const inEvents = (change: (events: string) => string): Mutation => ({
    answer: (answer) => {
      if (answer.headers["content-type"]?.startsWith("text/event-stream")) answer.body = change(answer.body);
    },
  });

  test("finds an event that breaks the schema", async () => {
    const number = inEvents((events) => events.replaceAll(/"created":(\d+)/g, '"created":"$1"'));
    await using proxy = await startMutatingProxy(target.url, number);
    const { output, exitCode } = await run(proxy.url, "openapi-3.2.json", ...streams);
    expect([exitCode, output]).toEqual([1, expect.stringContaining("ST108")]);
  }, 120_000);

  test("runs as one command against a URL, as the image of deploy/fuzzer.Dockerfile does, and leaves no files", async () => {
    const own = mkdtempSync(join(folder, "own-"));
    const command = async (url: string, env: NodeJS.ProcessEnv, ...flags: readonly string[]) => {
      const path = [dirname(program ?? ""), process.env["PATH"]].join(delimiter);
      const given = { ...process.env, PARLEY_KEY: target.key, TMPDIR: own, PATH: path, ...env };
      const file = join(import.meta.dirname, "../../deploy/fuzz-url");
      const child = spawn(file, [url, ...flags], { cwd: own, env: given, stdio: ["ignore", "pipe", "pipe"] });
      const ended = new Promise<number | null>((resolve) => void child.once("exit", resolve));
      return { output: (await text(child.stdout)) + (await text(child.stderr)), exitCode: await ended };
    };
    const few = ["--include-operation-id", "listModels", "--seed", "1", "--no-color"];
    const run = await command(`${target.url}/v1/`, {}, ...few);
    expect([run.exitCode, run.output]).toEqual([0, expect.stringMatching(/ (\d+) generated, \1 passed/)]);
    const unlisted: Mutation = {
      answer: (answer) => {
        if (answer.body.startsWith('{"object":"list"')) answer.body = "{}";
      },
    };
    await using proxy = await startMutatingProxy(target.url, unlisted);
    expect((await command(proxy.url, {}, ...few)).exitCode).toBe(1);
    expect(await command("http://127.0.0.1:9", {})).toMatchObject({
      exitCode: 2,
      output: expect.stringContaining("http://127.0.0.1:9/schemathesis.toml cannot be read"),
    });
    expect(await command(target.url, { PARLEY_KEY: "" })).toMatchObject({
      exitCode: 2,
      output: "fuzz-url: PARLEY_KEY must be a key of the service\n",
    });
    expect(readdirSync(own)).toEqual([]);
  }, 120_000);

  test("takes every event of the 3.1 document for a broken one, as the guide says", async () => {
    const { output, exitCode } = await run(target.url, "openapi.json", ...streams);
    expect([exitCode, output]).toEqual([1, expect.stringContaining("ST108")]);
  }, 120_000);
});
