import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { clients } from "./clients.ts";
import type { Client } from "./clients.ts";
import { startProxies } from "./proxies.ts";
import type { Route } from "./proxies.ts";
import { verdictOf, writeTables } from "./tables.ts";
import type { Finding, Line } from "./tables.ts";
import { Upstream, ends, shapes } from "./upstream.ts";
import type { End } from "./upstream.ts";

const { values } = parseArgs({
  options: {
    tools: { type: "string", default: join(tmpdir(), "parley-stream-ends") },
    clients: { type: "string", default: "" },
    routes: { type: "string", default: "" },
    port: { type: "string", default: "18400" },
    out: { type: "string" },
  },
});
const tools = resolve(values.tools);
if (!existsSync(tools))
  throw new Error(`${tools} does not exist. Install the clients first: bench/stream-ends/install.sh ${tools}`);
const proxyFolder = join(tools, "proxies");
process.env["PATH"] = [proxyFolder, join(proxyFolder, "debian/usr/sbin"), process.env["PATH"]].join(delimiter);
process.env["LD_LIBRARY_PATH"] = join(proxyFolder, "debian/usr/lib/x86_64-linux-gnu");

const folder = mkdtempSync(join(tmpdir(), "parley-stream-ends-"));
const certificate = makeCertificate(folder);
await using upstream = await Upstream.open();
const findings = await measureAll();
if (values.out !== undefined) writeFileSync(values.out, JSON.stringify(findings, undefined, 1));
console.log(writeTables(findings));

async function measureAll(): Promise<Finding[]> {
  const { routes, children } = await startProxies(upstream.port, folder, Number(values.port));
  const wantedRoutes = routes.filter(({ name }) => name === "direct" || name.includes(values.routes));
  const wantedClients = clients.filter(({ name }) => new RegExp(values.clients, "i").test(name));
  const found: Finding[] = [];
  try {
    for (const [index, client] of wantedClients.entries()) {
      console.error(`${index + 1} of ${wantedClients.length}: ${client.name}`);
      found.push(...(await measure(client, wantedRoutes)));
    }
  } finally {
    for (const child of children) child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  return found;
}

/** A certificate for localhost, in the forms that proxies and clients want. */
function makeCertificate(into: string): { readonly pem: string; readonly store: string } {
  const [key, pem, store] = [join(into, "key.pem"), join(into, "certificate.pem"), join(into, "store.p12")];
  const quietly = { stdio: "ignore" } as const;
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", pem, ...subject],
    quietly,
  );
  execFileSync("sh", ["-c", `cat ${pem} ${key} >${join(into, "both.pem")}`]);
  execFileSync(
    "keytool",
    ["-importcert", "-noprompt", "-alias", "a", "-file", pem, "-keystore", store, "-storepass", "secret"],
    quietly,
  );
  return { pem, store };
}

/** Asks with one process of the client for every route, shape and end, one after the other. */
async function measure(client: Client, routes: readonly Route[]): Promise<Finding[]> {
  const cases = routes
    .filter((route) => client.isDirectOnly !== true || route.name === "direct")
    .flatMap((route) => shapes.flatMap((shape) => ends.map((end) => ({ route, shape, end }))))
    .filter(({ route, shape, end }) => route.name === "direct" || (shape !== "slow" && isForProxies(end)));
  const urls = cases.map(({ route, shape, end }, index) => `${route.origin}/${end}/${shape}/${idOf(client, index)}/v1`);
  const lines = await run(client, urls);
  return cases.map(({ route, shape, end }, index) => {
    const requests = upstream.requests.get(idOf(client, index)) ?? 0;
    const line = lines.get(urls[index] ?? "") ?? { text: "", ended: "nothing was reported" };
    const { ended, note = line.text.match(/\[.*\]/)?.[0] ?? "" } = line;
    return { client: client.name, route: route.name, shape, end, requests, ended, note, verdict: verdictOf(line) };
  });
}

/** The other ends are shown by the direct route. */
function isForProxies(end: End): boolean {
  return end === "whole" || end === "clean" || end === "close" || end === "name-last";
}

function idOf({ name }: Client, index: number): string {
  return `${name.replaceAll(/\W/g, "-")}-${index}`;
}

async function run(
  { name, command, folder: own, isSilent }: Client,
  urls: readonly string[],
): Promise<Map<string, Line>> {
  const [file = "", ...args] = command;
  const env = {
    ...process.env,
    NODE_EXTRA_CA_CERTS: certificate.pem,
    SSL_CERT_FILE: certificate.pem,
    REQUESTS_CA_BUNDLE: certificate.pem,
    JAVA_TOOL_OPTIONS: `-Djavax.net.ssl.trustStore=${certificate.store} -Djavax.net.ssl.trustStorePassword=secret`,
    TMPDIR: folder,
  };
  const child = spawn(file, [...args, ...urls], {
    cwd: join(tools, own),
    env,
    stdio: ["ignore", "pipe", isSilent === true ? "ignore" : "inherit"],
  });
  const late = setTimeout(() => child.kill("SIGKILL"), 400_000);
  const found = new Map<string, Line>();
  child.on("error", (error) => console.error(`${name} does not start: ${error.message}`));
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) continue;
    const one = JSON.parse(line) as Line & { readonly url: string }; // as the clients write it
    found.set(one.url, one);
  }
  clearTimeout(late);
  return found;
}
