import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chatInit, CliProcess, parley, testKey, until } from "@parley/server/testing";
import { baseUrlOf, useFolder } from "./use-folder.ts";

// Data that a server leaves on the disk, and the permissions of its files.

const folder = useFolder();
/** strace may be installed without the permission to trace. */
const canTrace = spawnSync("strace", ["--seccomp-bpf", "-f", "-o", "/dev/null", "true"]).status === 0;

/** Starts a server with a stub engine as a process. */
function start(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  wrapper: readonly string[] = [],
): CliProcess {
  const settings = { PARLEY_DATA_DIR: dataDir, PARLEY_API_KEY: testKey, ...env };
  return new CliProcess(["start"], { ...folder.quick(settings), wrapper });
}

/** Sends a plain chat request, and returns the status. */
async function ask(baseUrl: string): Promise<number> {
  const init = chatInit({}, { headers: { authorization: `Bearer ${testKey}` } });
  return (await fetch(`${baseUrl}/chat/completions`, init)).status;
}

/** The command line that records writes and syncs. */
const strace = (trace: string): readonly string[] =>
  `strace --seccomp-bpf -f -y -s 16 -e trace=fsync,fdatasync,write -o ${trace}`.split(" ");

describe.skipIf(!canTrace)("a power cut", () => {
  test("loses no key that was shown", async () => {
    const trace = join(folder.path(), "key.trace");
    const options = folder.quick();
    // The end of the last connection would sync everything. While the server runs, the command's connection is not the last
    // one.
    await using server = new CliProcess(["start"], options);
    await baseUrlOf(server);
    const { code, stdout } = await parley(["keys", "create", "--name", "a"], { ...options, wrapper: strace(trace) });
    expect(code).toBe(0);
    const [, file = ""] = /^key {2}in (\S+)$/m.exec(stdout) ?? [];
    const calls = readFileSync(trace, "utf8").split("\n");
    const synced = calls.findIndex((call) => /f(?:data)?sync\(\d+<.*parley\.db-wal>/.test(call));
    const shown = calls.findIndex((call) => call.includes("write(") && call.includes(`${file}>`));
    expect(synced).toBeGreaterThanOrEqual(0);
    expect(shown).toBeGreaterThan(synced);
  });

  test("loses no closed entry that is older than a moment", async () => {
    const trace = join(folder.path(), "ledger.trace");
    const dataDir = folder.fresh();
    await using server = start(dataDir, {}, strace(trace));
    const baseUrl = await baseUrlOf(server);
    await until(
      () => ask(baseUrl),
      (status) => status === 200,
      20_000,
    );
    const written = readFileSync(trace, "utf8").length;
    expect(await ask(baseUrl)).toBe(200);
    const calls = await until(
      () => readFileSync(trace, "utf8").slice(written),
      (text) => /fdatasync\(\d+<.*parley\.db-wal>/.test(text),
    );
    // The sync runs in another thread: the main thread, with the event loop, never waits for the disk.
    const [, thread = ""] = /^(\d+) +fdatasync\(\d+<.*parley\.db-wal>/m.exec(calls) ?? [];
    const pid = readFileSync(join(dataDir, "server.pid"), "utf8").trim();
    expect(thread).toMatch(/^\d+$/);
    expect(thread).not.toBe(pid);
  });
});

describe("a data folder that others may read", () => {
  test("has no file that they may read", async () => {
    const dataDir = folder.fresh();
    mkdirSync(dataDir, { mode: 0o755 });
    await using server = start(dataDir);
    const baseUrl = await baseUrlOf(server);
    await until(
      () => ask(baseUrl),
      (status) => status === 200,
      20_000,
    );
    const names = readdirSync(dataDir, { recursive: true, encoding: "utf8" });
    expect(names.filter((name) => (statSync(join(dataDir, name)).mode & 0o077) !== 0)).toEqual([]);
    expect(names).toContain("parley.db-wal");
  });
});

describe("a secret", () => {
  test("is not in the environment of an engine", async () => {
    await using server = start(folder.fresh());
    await baseUrlOf(server);
    const { pid } = server.child;
    const commandOf = (id: number | string | undefined): string => readFileSync(`/proc/${id}/cmdline`, "utf8");
    // Until a child has started its program, it has the environment of its parent.
    const children = await until(
      () =>
        readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
          .split(" ")
          .filter((child) => child !== "" && commandOf(child) !== commandOf(pid)),
      (found) => found.length > 0,
    );
    for (const child of children) expect(readFileSync(`/proc/${child}/environ`, "utf8")).not.toContain(testKey);
  });

  test("may stand in a file", async () => {
    const file = join(folder.path(), "api-key");
    writeFileSync(file, `${testKey}\n`);
    await using server = start(folder.fresh(), { PARLEY_API_KEY: "", PARLEY_API_KEY_FILE: file });
    const baseUrl = await baseUrlOf(server);
    await until(
      () => ask(baseUrl),
      (status) => status === 200,
      20_000,
    );
  });

  test.each([
    [{ PARLEY_API_KEY_FILE: "/nonexistent" }, "PARLEY_API_KEY_FILE: the file /nonexistent cannot be read (ENOENT"],
    [{ PARLEY_API_KEY_FILE: "/dev/null" }, "PARLEY_API_KEY_FILE: the file /dev/null is empty"],
    [
      { PARLEY_API_KEY: testKey, PARLEY_API_KEY_FILE: import.meta.filename },
      "PARLEY_API_KEY and PARLEY_API_KEY_FILE are both given: leave one of them out",
    ],
  ])("that cannot be read from a file ends the start: %j", async (env, fault) => {
    const { code, stderr } = await parley(["start"], folder.quick(env));
    expect(code).toBe(2);
    expect(stderr).toContain(fault);
    expect(stderr).not.toContain(testKey);
  });
});

test("the next server removes the run folder of a killed one, and of no other", async () => {
  const [dataDir, other] = [folder.fresh(), folder.fresh()];
  const runFolderOf = (data: string): string => readFileSync(join(data, "run-folder"), "utf8").trim();
  await using alive = start(other);
  await baseUrlOf(alive);
  await using killed = start(dataDir);
  await baseUrlOf(killed);
  const left = runFolderOf(dataDir);
  killed.child.kill("SIGKILL");
  await killed.result();
  expect(existsSync(left)).toBe(true);
  await using next = start(dataDir);
  await baseUrlOf(next);
  expect(existsSync(left)).toBe(false);
  expect(existsSync(runFolderOf(dataDir))).toBe(true);
  expect(existsSync(runFolderOf(other))).toBe(true);
});
