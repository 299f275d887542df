import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createKey, createLog, makeConfig, startServer } from "@parley/server";
import type { Config, RunningServer } from "@parley/server";
import admin from "@parley/contract/admin.json" with { type: "json" };
import type { components } from "@parley/contract/admin-types";
import { parley } from "@parley/server/testing";
import type { Target, TargetName } from "./target.ts";

type Scope = components["schemas"]["Scope"];
type NewAdminKey = components["schemas"]["NewAdminKey"];

// The process of one server under test. Its keys end with it, its limits are never reached, and its deadline is short, so that
// a stalled engine reaches it soon. If `FUZZ_TARGET_PORT` is set, it serves its description on that port and runs until SIGTERM.
// Otherwise it prints the description as one line of JSON and runs until its standard input ends.

// Our launcher passes one of these names.
const name = (process.argv[2] ?? "scripted") as TargetName;
const isAdmin = name === "admin";
const { FUZZ_HOST: host = "127.0.0.1", FUZZ_PORT: port = "0", FUZZ_TARGET_PORT: targetPort } = process.env;
const dataDir = mkdtempSync(join(tmpdir(), "parley-fuzz-"));
const server = await startServer({
  config: configFor(name, dataDir),
  log: createLog("silent", "json").log,
  report: () => undefined,
});
await Promise.all(server.models.map((model) => model.engine.whenReady()));
const description = JSON.stringify(await describe(server));
if (targetPort === undefined) {
  process.stdout.write(`${description}\n`);
  process.stdin.resume().once("end", () => void stop());
} else {
  const described = createServer((_request, response) => response.end(description)).listen(Number(targetPort), host);
  process.once("SIGTERM", () => {
    described.close();
    void stop();
  });
}
process.on("SIGINT", () => undefined); // the launcher handles Ctrl-C

function configFor(target: TargetName, dataDir: string): Config {
  const engine = target === "embedded" ? target : "scripted";
  return makeConfig({
    engine,
    dataDir,
    script: fileURLToPath(new URL("script.json", import.meta.url)),
    host,
    port: isAdmin ? 0 : Number(port),
    ...(isAdmin && { adminHost: host, adminPort: Number(port) }),
    metricsPort: "off",
    requestsPerMinute: 1_000_000_000,
    tokensPerMinute: 1_000_000_000_000,
    totalRequestsPerMinute: 1_000_000_000,
    totalTokensPerMinute: 1_000_000_000_000,
    requestTimeoutMs: engine === "scripted" ? 5000 : 60_000,
  });
}

async function describe({ url, adminUrl, keys }: RunningServer): Promise<Target> {
  const makeKey = async (rules: { requestsPerMinute?: number; budgetUsd?: string }): Promise<string> =>
    (await createKey(keys, { name: "fuzz", ...rules }, Date.now())).token;
  const key = await makeKey({});
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  const { data } = (await response.json()) as { data: Target["models"] }; // the contract's listing
  const target = {
    url,
    key,
    limitedKey: await makeKey({ requestsPerMinute: 1 }),
    spentKey: await makeKey({ budgetUsd: "0" }),
    models: data.map(({ id, pricing }) => ({ id, pricing })),
  };
  return adminUrl !== undefined ? { ...target, url: adminUrl, ...(await describeAdmin(adminUrl, key)) } : target;
}

/** Makes the admin keys of a run: the first one with the command, the others with it. */
async function describeAdmin(url: string, chatKey: string): Promise<Pick<Target, "key" | "admin">> {
  const all = admin.components.schemas.Scope.enum as Scope[]; // the types are generated from the same document
  const { stdout } = await parley([
    "admin-keys",
    "create",
    "--name",
    "fuzz",
    "--scopes",
    all.join(","),
    "--data-dir",
    dataDir,
    "--json",
  ]);
  const { key_file: file } = JSON.parse(stdout) as { key_file: string }; // without a terminal
  const key = readFileSync(file, "utf8").trim();
  const post = async (path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const init = { method: "POST", headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${url}/admin/v1/${path}`, init);
    if (!response.ok) throw new Error(`the admin API answered ${path} with ${response.status}`);
    return response.json();
  };
  const makeKey = async (scopes: readonly Scope[], groupId?: string) =>
    (await post("admin-keys", { name: "fuzz", scopes, group_id: groupId })) as NewAdminKey;
  const { id: ownedGroup } = (await post("groups", { name: "owned" })) as { id: string };
  const disabled = await makeKey(all);
  await post(`admin-keys/${disabled.admin_key.id}/disable`);
  const lacking: Record<string, string> = {};
  for (const scope of all) lacking[scope] = (await makeKey(all.filter((one) => one !== scope))).token;
  const owner = (await makeKey(all, ownedGroup)).token;
  return { key, admin: { lacking, owner, ownedGroup, refused: [disabled.token, chatKey] } };
}

async function stop(): Promise<void> {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
}
