import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, until } from "@parley/server/testing";

/** Debian installs nginx in `/usr/sbin`. */
const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` };

export const isNginxInstalled = (): boolean => spawnSync("nginx", ["-v"], { env }).status === 0;

/** A request goes to the next server if one cannot be reached, or refuses it with 503. */
const configuration = (port: number, folder: string, servers: readonly number[]): string => `
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
events { worker_connections 9000; }
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
  upstream servers {
    ${servers.map((one) => `server 127.0.0.1:${one} max_fails=1 fail_timeout=1s;`).join(" ")}
    keepalive 600;
  }
  server {
    listen 127.0.0.1:${port} backlog=16384;
    location / {
      proxy_pass http://servers;
      proxy_http_version 1.1;
      proxy_set_header connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
      proxy_next_upstream error timeout http_503 non_idempotent;
    }
  }
}
`;

export interface Nginx extends AsyncDisposable {
  /** The base URL, with `/v1`. */
  readonly url: string;
}

/** Starts nginx in front of servers, as a load balancer without health checks. */
export async function startNginx(servers: readonly number[]): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), "parley-nginx-"));
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, configuration(port, folder, servers));
  const log = join(folder, "error.log");
  const child = spawn("nginx", ["-c", file, "-p", folder, "-e", log], { env, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}/v1`;
  const answers = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(answers, Boolean);
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      if (child.exitCode === null && child.kill("SIGTERM")) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
