import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, isPortOpen, postgresFolder, TestPostgres, until } from "@parley/server/testing";
import { openPostgres } from "../../src/state/postgres/open-postgres.ts";

/** Debian installs it in `/usr/sbin`. */
const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` };
const isInstalled = postgresFolder !== undefined && spawnSync("pgbouncer", ["--version"], { env }).status === 0;
/** PgBouncer refuses to run as root. */
const prefix = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];

describe.skipIf(!isInstalled)("behind PgBouncer (this needs `pgbouncer` and PostgreSQL)", () => {
  let postgres: TestPostgres;
  beforeAll(async () => void (postgres = await TestPostgres.start()));
  afterAll(() => postgres[Symbol.asyncDispose]());

  /** Runs a test with the URL of a database behind PgBouncer. */
  async function withPooler(settings: string, act: (url: string) => Promise<void>): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "parley-pgbouncer-"));
    chmodSync(folder, 0o755);
    const [port, database] = [await freePort(), await postgres.createDatabase()];
    writeFileSync(join(folder, "users"), '"parley" "secret"\n');
    writeFileSync(
      join(folder, "ini"),
      `[databases]\n${database} = host=127.0.0.1 port=${postgres.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = ${folder}/users\n${settings}\n`,
    );
    const [command, ...args] = [...prefix, "pgbouncer", join(folder, "ini")];
    const child = spawn(command, args, { env, stdio: "ignore" });
    try {
      await until(() => isPortOpen(port), Boolean, 20_000);
      await act(`postgres://parley:secret@127.0.0.1:${port}/${database}`);
    } finally {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true });
    }
  }

  const ignoring = "ignore_startup_parameters = statement_timeout";

  test("with a session for each connection, keys and entries work", () =>
    withPooler(`pool_mode = session\n${ignoring}`, async (url) => {
      await using state = await openPostgres(url);
      expect(await state.keys.list()).toEqual([]);
      await state.ledger.assertWritable();
    }));

  test.each([
    ["sessions are shared between transactions", `pool_mode = transaction\n${ignoring}`, /pool mode to session/],
    ["the time limit of statements is refused", "pool_mode = session", /add it to ignore_startup_parameters/],
  ])("a start says what to do where %s", (_title, settings, sentence) =>
    withPooler(settings, async (url) => {
      await expect(openPostgres(url)).rejects.toThrow(sentence);
    }),
  );
});
