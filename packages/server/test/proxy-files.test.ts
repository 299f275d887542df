import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import selfsigned from "selfsigned";
import { freePort, modelId, play, startTestServer, testKey, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { settings } from "../src/config/settings.ts";

// The files of `deploy/proxies`, with the addresses and the certificate of the test, in the real proxies.

const shipped = (file: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../deploy/proxies/${file}`, import.meta.url)), "utf8");

interface Places {
  readonly folder: string;
  readonly port: number;
  /** `127.0.0.1:8080` of the shipped file. */
  readonly server: string;
  /** Files with the certificate and its key. */
  readonly pem: string;
  readonly key: string;
}

interface Proxy {
  readonly file: string;
  readonly program: string;
  readonly adapt: (config: string, places: Places) => string;
  readonly args: (file: string) => readonly string[];
}

const proxies: readonly Proxy[] = [
  {
    file: "nginx.conf",
    program: "nginx",
    adapt: (config, { folder, port, server, pem, key }) =>
      `daemon off; pid ${folder}/pid; error_log stderr; worker_processes 1; events {} http { access_log off; ` +
      ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder};`).join(" ") +
      config
        .replace("listen 443", `listen 127.0.0.1:${port}`)
        .replace("127.0.0.1:8080", server)
        .replace("/etc/ssl/parley.pem", pem)
        .replace("/etc/ssl/parley.key", key) +
      "}",
    args: (file) => ["-c", file],
  },
  {
    file: "Caddyfile",
    program: "caddy",
    adapt: (config, { port, server, pem, key }) =>
      `{\n\tadmin off\n\tauto_https off\n}\n` +
      config
        .replace(
          "{$PARLEY_DOMAIN:localhost} {",
          `https://localhost:${port}, https://127.0.0.1:${port} {\n\ttls ${pem} ${key}`,
        )
        .replace("127.0.0.1:8080", server),
    args: (file) => ["run", "--adapter", "caddyfile", "--config", file],
  },
  {
    file: "haproxy.cfg",
    program: "haproxy",
    adapt: (config, { port, server, pem }) =>
      config
        .replace("bind :443", `bind 127.0.0.1:${port}`)
        .replace("127.0.0.1:8080", server)
        .replace("/etc/ssl/parley.pem", pem),
    args: (file) => ["-db", "-f", file],
  },
];

const isInstalled = (program: string): boolean => spawnSync(program, ["-v"]).error === undefined;
const scenarios = {
  slow: [{ text: "a" }, { wait_ms: 1500 }, { text: "b" }, { finish: "stop" }],
  stall: [{ text: "a" }, { stall: true }],
} as const;

describe.each(proxies)("$program with `deploy/proxies/$file`", ({ file, program, adapt, args }) => {
  describe.skipIf(!isInstalled(program))(`(it would run with ${program} on the PATH)`, () => {
    let folder = "";
    let server: TestServer;
    let proxy: ChildProcess;
    let said = "";
    let port = 0;
    /** An answer over TLS, when its head is there. */
    const ask = async (
      path: string,
      body?: object | Buffer,
      headers: Record<string, string> = {},
    ): Promise<IncomingMessage> => {
      const sent = request({
        host: "127.0.0.1",
        port,
        path,
        rejectUnauthorized: false,
        agent: false,
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${testKey}`, "content-type": "application/json", ...headers },
      });
      // A refusal may arrive before the whole body was sent.
      sent.on("error", () => undefined);
      sent.end(Buffer.isBuffer(body) ? body : body && JSON.stringify(body));
      const [answer] = (await once(sent, "response")) as [IncomingMessage]; // the event of Node
      return answer;
    };
    const chat = (fields: object, headers?: Record<string, string>): Promise<IncomingMessage> =>
      ask("/v1/chat/completions", { model: modelId, messages: [{ role: "user", content: "hi" }], ...fields }, headers);
    const isUp = async (): Promise<boolean> => (await ask("/health").catch(() => undefined))?.statusCode === 200;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "parley-proxy-"));
      server = await startTestServer({ scenarios, settings: { trustedProxies: ["127.0.0.1"] } });
      const { cert, private: key } = await selfsigned.generate([{ name: "commonName", value: "localhost" }]);
      const places = {
        folder,
        port: (port = await freePort()),
        server: new URL(server.origin).host,
        pem: join(folder, "both.pem"),
        key: join(folder, "key.pem"),
      };
      writeFileSync(places.pem, `${cert}\n${key}\n`);
      writeFileSync(places.key, key);
      const config = join(folder, file);
      writeFileSync(config, adapt(shipped(file), places));
      proxy = spawn(program, args(config), {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, HOME: folder },
      });
      proxy.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
      await until(isUp, (up) => up, 15_000).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${said}`);
      });
    }, 30_000);
    afterAll(async () => {
      proxy.kill("SIGKILL");
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    test("passes each event of a stream on at once", async () => {
      const answer = await chat({ ...play("slow"), stream: true });
      expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/);
      const [first] = (await once(answer, "data")) as [Buffer]; // the event of Node
      expect(first.toString("utf8")).toMatch(/^data: /);
      expect(first.toString("utf8")).not.toContain('"content":"b"');
      expect(await text(answer)).toMatch(/"content":"b".*\[DONE\]/s);
    });

    test("ends a generation whose caller hangs up", async () => {
      const aborted = (): Promise<number> => server.gauge(`parley_generations_aborted_total{model="${modelId}"}`);
      const before = await aborted();
      const answer = await chat({ ...play("stall"), stream: true });
      await once(answer, "data");
      answer.destroy();
      await until(aborted, (count) => count > before, 5000);
    });

    test("passes large bodies on, and the answer to those that are too large", async () => {
      const large = await chat({ messages: [{ role: "user", content: "x".repeat(1_500_000) }] });
      expect(JSON.parse(await text(large))).toMatchObject({ error: { code: "context_length_exceeded" } });
      const tooLarge = await again(async () => {
        const answer = await ask("/v1/chat/completions", Buffer.alloc(4_194_305, " "));
        return [answer.statusCode, JSON.parse(await text(answer)) as object];
      });
      expect(tooLarge).toMatchObject([413, { error: { code: "request_too_large" } }]);
    });

    test("names the address of the caller, and not the one that the caller claims", async () => {
      const answer = await chat({}, { "x-forwarded-for": "203.0.113.7" });
      await text(answer);
      const id = String(answer.headers["x-request-id"]);
      const lines = await until(
        () => server.logLines.filter((line) => line.includes(id)),
        (found) => found.length > 0,
      );
      expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ client: "127.0.0.1" }]);
    });

    test("waits longer for an answer than the server does", () => {
      const seconds = settings.requestTimeoutMs.schema.parse(undefined) / 1000;
      const waits = Array.from(
        shipped(file).matchAll(/(?:read_timeout|timeout server|header_timeout) (\d+)s/g),
        ([, wait]) => Number(wait),
      );
      expect(waits.length).toBeGreaterThan(0);
      for (const wait of waits) expect(wait).toBeGreaterThan(seconds);
    });

    test("answers in the form of the contract when no server is there", async () => {
      await server.running.close();
      const answer = await chat({});
      const { error, request_id: id } = JSON.parse(await text(answer)) as {
        readonly error: object;
        readonly request_id: string;
      };
      expect([answer.statusCode, answer.headers["content-type"], error]).toMatchObject([
        503,
        "application/json",
        { code: "service_unavailable", type: "server_error", param: null },
      ]);
      expect(answer.headers["retry-after"]).toBe("2");
      expect(id).toMatch(/^req-\S+$/);
      expect(answer.headers["x-request-id"]).toBe(id);
    });
  });
});

/** Tries up to five times: Caddy may reset a connection whose body is refused before the answer has been read. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let turn = 1; turn < 5; turn += 1) {
    const done = await work().catch(() => undefined);
    if (done) return done;
  }
  return work();
}
