import { spawn } from "node:child_process";
import { join } from "node:path";
import { exitCodeOf } from "@parley/common/exit-code";

// The server's tests on PostgreSQL and Valkey instead of SQLite and memory; arguments go to vitest.

const vitest = ["run", "--project", "shared-state:all", ...process.argv.slice(2)];
process.exitCode = await exitCodeOf(
  spawn(join(import.meta.dirname, "../node_modules/.bin/vitest"), vitest, { stdio: "inherit" }),
);
