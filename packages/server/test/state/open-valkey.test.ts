import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { inspect } from "node:util";
import { Valkey } from "iovalkey";
import selfsigned from "selfsigned";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, isPortOpen, overallLimits, startValkey, until, valkeyProgram } from "@parley/server/testing";
import type { TestValkey } from "@parley/server/testing";
import { StateError } from "../../src/state/state-error.ts";
import { openValkey } from "../../src/state/valkey/open-valkey.ts";

describe.skipIf(valkeyProgram === undefined)(
  "opening Valkey (with `valkey-server` or `redis-server`) says without the password that",
  () => {
    let valkey: TestValkey;
    let locked: TestValkey;
    let replica: TestValkey;
    let empty: TestValkey;
    let complete: TestValkey;
    let sentinel: Sentinel;
    const silent = createServer().listen(0, "127.0.0.1");
    const foreign = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")).listen(0, "127.0.0.1");
    const closing = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    let secured: Server;
    beforeAll(async () => {
      const { private: key, cert } = await selfsigned.generate([{ name: "commonName", value: "127.0.0.1" }]);
      secured = createTlsServer({ key, cert }).listen(0, "127.0.0.1");
      valkey = await startValkey();
      locked = await startValkey(
        "--requirepass",
        "right",
        "--user",
        "weak",
        "on",
        ">right",
        "~*",
        "+@all",
        "-@scripting",
      );
      replica = await startValkey("--replicaof", `127.0.0.1 ${valkey.port}`);
      [empty, complete] = [await startClustered(), await startClustered()];
      const admin = new Valkey(complete.port, "127.0.0.1");
      await admin.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
      admin.disconnect();
      sentinel = await startSentinel();
    });
    afterAll(async () => {
      await Promise.all([valkey, locked, replica, empty, complete, sentinel].map((one) => one[Symbol.asyncDispose]()));
      for (const server of [silent, foreign, closing, secured]) server.close();
    });

    const malformed = /^The URL of Valkey is malformed: it must look like valkey:\/\/[^.]+\.$/;
    const inClusterMode = /is in cluster mode, which the limits cannot use: name a single primary\.$/;
    const cases: readonly (readonly [title: string, url: () => string, sentence: RegExp])[] = [
      ["the URL is not one", () => "s3cret", malformed],
      ["its scheme is another", () => "http://:s3cret@127.0.0.1:6379", malformed],
      ["its port is not a number", () => "valkey://:s3cret@127.0.0.1:port", malformed],
      ["its host is missing", () => "valkey:///0", malformed],
      ["its database is not a number", () => "valkey://:s3cret@127.0.0.1/name", malformed],
      ["it has options", () => "valkey://:s3cret@127.0.0.1/0?family=6", malformed],
      ["its password is not encoded", () => "valkey://:s3cret%@127.0.0.1", malformed],
      [
        "nothing listens there",
        () => "redis://:s3cret@127.0.0.1:1",
        /^Valkey at 127\.0\.0\.1:1 refuses the connection\.$/,
      ],
      [
        "the host has no address",
        () => "valkey://:s3cret@store.invalid",
        /:6379 (cannot be found: the host name has no address|does not answer within a second)\.$/,
      ],
      ["the password is wrong", () => at(locked.port, ":s3cret@"), /refuses the user or the password\.$/],
      ["the password is missing", () => at(locked.port), /refuses the user or the password\.$/],
      [
        "the database does not exist",
        () => at(locked.port, ":right@", "/99"),
        /does not have the database that the URL names\.$/,
      ],
      ["the server is a replica", () => at(replica.port), /is a read-only replica: name the primary\.$/],
      ["the server has no slots of its cluster", () => at(empty.port), inClusterMode],
      ["the server has all slots of its cluster", () => at(complete.port), inClusterMode],
      [
        "the server is a sentinel",
        () => at(sentinel.port),
        /does not know all commands of the limits\. If it is a sentinel, name the primary instead\.$/,
      ],
      [
        "the user may not run scripts",
        () => at(locked.port, "weak:right@"),
        /does not permit this user all commands of the limits\.$/,
      ],
      ["the server does not answer", () => at(portOf(silent)), /does not answer within a second\.$/],
      [
        "the server hangs up",
        () => at(portOf(closing)),
        /closes the connection: a server with TLS needs the scheme valkeys or rediss\.$/,
      ],
      [
        "the server's certificate is not trusted",
        () => at(portOf(secured)).replace("valkey:", "valkeys:"),
        /has a certificate that is not trusted: NODE_EXTRA_CA_CERTS must name the file of its CA\.$/,
      ],
      ["the server is another one", () => at(portOf(foreign)), /is neither Valkey nor Redis\.$/],
    ];

    test.each(cases)("%s", async (_title, url, sentence) => {
      const error: unknown = await openValkey(url(), overallLimits).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(StateError);
      expect(error).toMatchObject({ message: expect.stringMatching(sentence) });
      expect(inspect(error, { depth: 9 })).not.toMatch(/s3cret|right@/);
    });

    test("nothing is wrong with a server whose password and database are right", async () => {
      await using opened = await openValkey(at(locked.port, ":right@", "/3"), overallLimits);
      expect(opened.limits.isReachable()).toBe(true);
    });
  },
);

/** Starts a server in cluster mode. It serves no slot of the cluster. */
const startClustered = async (): Promise<TestValkey> =>
  startValkey("--cluster-enabled", "yes", "--cluster-port", `${await freePort()}`);

interface Sentinel extends AsyncDisposable {
  readonly port: number;
}

/** Starts a sentinel that watches no server. It needs a configuration file that it can write. */
async function startSentinel(): Promise<Sentinel> {
  const folder = mkdtempSync(join(tmpdir(), "parley-sentinel-"));
  const port = await freePort();
  writeFileSync(join(folder, "sentinel.conf"), `port ${port}\ndir ${folder}\n`);
  const child = spawn(valkeyProgram ?? "", [join(folder, "sentinel.conf"), "--sentinel"], { stdio: "ignore" });
  await until(() => isPortOpen(port), Boolean);
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(child, "exit");
      child.kill("SIGKILL");
      await closed;
      rmSync(folder, { recursive: true });
    },
  };
}

const at = (port: number, credentials = "", path = ""): string => `valkey://${credentials}127.0.0.1:${port}${path}`;

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen");
  return address.port;
}
