import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** A way from the client to the upstream. */
export interface Route {
  readonly name: string;
  readonly origin: string;
}

interface Proxy {
  readonly name: string;
  readonly config: (ports: Ports, folder: string) => string;
  readonly command: (config: string, folder: string) => readonly string[];
}

interface Ports {
  readonly upstream: number;
  readonly http: number;
  readonly https: number;
}

const nginx =
  (directives: string): Proxy["config"] =>
  (ports, folder) =>
    `
user root; daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx-error.log info;
events {}
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server {
    listen 127.0.0.1:${ports.http};
    listen 127.0.0.1:${ports.https} ssl http2;
    ssl_certificate ${folder}/certificate.pem; ssl_certificate_key ${folder}/key.pem;
    location / { proxy_pass http://127.0.0.1:${ports.upstream}; ${directives} }
  }
}`;

const haproxy: Proxy["config"] = (ports, folder) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend front
  bind 127.0.0.1:${ports.http}
  bind 127.0.0.1:${ports.https} ssl crt ${folder}/both.pem alpn h2,http/1.1
  default_backend back
backend back
  server upstream 127.0.0.1:${ports.upstream}
`;

const caddy: Proxy["config"] = (ports, folder) => `
{
  admin off
  auto_https off
  default_sni localhost
  storage file_system ${folder}/caddy
}
http://localhost:${ports.http} {
  reverse_proxy 127.0.0.1:${ports.upstream}
}
https://localhost:${ports.https} {
  tls ${folder}/certificate.pem ${folder}/key.pem
  reverse_proxy 127.0.0.1:${ports.upstream}
}
`;

const runNginx: Proxy["command"] = (config, folder) => ["nginx", "-p", folder, "-c", config];

/** nginx in three set-ups: HTTP/1.1 to the upstream; the same with the bytes buffered all the same; HTTP/1.0, its old default. */
const proxies: readonly Proxy[] = [
  { name: "nginx", config: nginx(`proxy_http_version 1.1; proxy_set_header Connection "";`), command: runNginx },
  {
    name: "nginx buffering",
    config: nginx(`proxy_http_version 1.1; proxy_set_header Connection ""; proxy_ignore_headers X-Accel-Buffering;`),
    command: runNginx,
  },
  { name: "nginx HTTP/1.0", config: nginx("proxy_http_version 1.0;"), command: runNginx },
  { name: "HAProxy", config: haproxy, command: (config) => ["haproxy", "-f", config] },
  { name: "Caddy", config: caddy, command: (config) => ["caddy", "run", "--adapter", "caddyfile", "--config", config] },
];

/** Starts every proxy that is on the path, and returns the ways through them and the processes to end. */
export async function startProxies(
  upstream: number,
  folder: string,
  firstPort: number,
): Promise<{ readonly routes: readonly Route[]; readonly children: readonly ChildProcess[] }> {
  const routes: Route[] = [{ name: "direct", origin: `http://127.0.0.1:${upstream}` }];
  const children: ChildProcess[] = [];
  for (const [index, { name, config, command }] of proxies.entries()) {
    const ports = { upstream, http: firstPort + 2 * index, https: firstPort + 2 * index + 1 };
    const own = join(folder, name.replaceAll(/\W/g, "-"));
    mkdirSync(own, { recursive: true });
    const path = join(own, "config");
    writeFileSync(path, config(ports, folder));
    const [file = "", ...args] = command(path, folder);
    const child = spawn(file, args, { stdio: "ignore" });
    let isMissing = false;
    child.on("error", () => (isMissing = true));
    if (!(await opens(ports.https, () => isMissing || child.exitCode !== null))) {
      console.error(`${name} is left out: ${file} does not start`);
      continue;
    }
    children.push(child);
    routes.push({ name: `${name}, HTTP/1.1`, origin: `http://localhost:${ports.http}` });
    routes.push({ name: `${name}, TLS`, origin: `https://localhost:${ports.https}` });
  }
  return { routes, children };
}

async function opens(port: number, hasFailed: () => boolean): Promise<boolean> {
  for (let left = 100; left > 0 && !hasFailed(); left -= 1) {
    const socket = connect({ port, host: "127.0.0.1" });
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return true;
    await wait(100);
  }
  return false;
}
