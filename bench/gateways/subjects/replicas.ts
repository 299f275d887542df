import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { postgresFolder, startValkey, TestPostgres, valkeyProgram } from "@parley/server/testing";
import { isNginxInstalled, startNginx } from "../../replicas/nginx.ts";
import { startParley } from "./parley.ts";
import { chatPath } from "./subject.ts";
import type { SubjectKind } from "./subject.ts";

/** Two servers that share keys, ledger and limits, behind a load balancer. PostgreSQL syncs every commit to the disk. */
export const replicas: SubjectKind = {
  name: "parley-replicas",
  title: "2 servers behind nginx",
  isOnRequest: true,
  missing: () => {
    if (postgresFolder === undefined) return "PostgreSQL is not installed (Debian: postgresql)";
    if (valkeyProgram === undefined) return "Valkey is not installed (Debian: redis-server)";
    return isNginxInstalled() ? undefined : "nginx is not installed (Debian: nginx)";
  },
  start: async (engine, folder) => {
    const started = new AsyncDisposableStack();
    const postgres = started.use(await TestPostgres.start());
    const valkey = started.use(await startValkey());
    const database = await postgres.createDatabase();
    const stores = { PARLEY_DATABASE_URL: postgres.urlOf(database), PARLEY_VALKEY_URL: valkey.url };
    const startOne = async (name: string) => {
      mkdirSync(join(folder, name));
      return started.use(await startParley("completions", { env: stores })(engine, join(folder, name)));
    };
    const [first, second] = [await startOne("first"), await startOne("second")];
    const nginx = started.use(await startNginx([first.port, second.port]));
    return {
      port: Number(new URL(nginx.url).port),
      path: chatPath,
      headers: first.headers,
      // Processes in several groups; their processor time is not measured.
      pid: undefined,
      startMs: undefined,
      [Symbol.asyncDispose]: () => started.disposeAsync(),
    };
  },
};
