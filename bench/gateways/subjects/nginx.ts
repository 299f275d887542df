import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { startProgram } from "./start-program.ts";
import type { SubjectKind } from "./subject.ts";

/** One worker, because every other subject has one thread for its callers. Nothing is buffered or logged. */
const configuration = (port: number, enginePort: number, folder: string): string => `
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 19000; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  keepalive_requests 100000000;
  upstream engine { server 127.0.0.1:${enginePort}; keepalive 2048; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=16384;
    location / {
      proxy_pass http://engine;
      proxy_http_version 1.1;
      proxy_set_header connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }
  }
}
`;

/** Debian installs nginx in `/usr/sbin`. */
const path = `${process.env["PATH"] ?? ""}:/usr/sbin`;

export const nginx: SubjectKind = {
  name: "nginx",
  title: "nginx",
  missing: () =>
    spawnSync("nginx", ["-v"], { env: { PATH: path } }).error ? "nginx is not installed (Debian: nginx)" : undefined,
  start: async (engine, folder) => {
    const port = await freePort();
    const file = join(folder, "nginx.conf");
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, configuration(port, engine.port, folder));
    const args = ["-c", file, "-p", folder, "-e", join(folder, "error.log")];
    return startProgram({ command: "nginx", args, env: { PATH: path }, port, healthPath: "/health", folder });
  },
};
