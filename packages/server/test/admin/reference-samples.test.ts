import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import admin from "@parley/contract/admin.json" with { type: "json" };
import { chatInit, testKey, withKey } from "@parley/server/testing";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startAdmin } from "./use-admin.ts";
import type { AdminServer, Scope } from "./use-admin.ts";

/** The samples of the reference at `/docs/admin`, run against a server. */

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const operations = Object.values(admin.paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
const isDeletion = (operation: string): boolean => /^(?:delete|prune)/.test(operation);
const ordered = operations.toSorted((one, other) => Number(isDeletion(one)) - Number(isDeletion(other)));

let server: AdminServer;
let environment: NodeJS.ProcessEnv;
/** Replaces the ids of the examples by those of things that exist. */
let withIds: (operation: string, sample: string) => string;

beforeEach(async () => {
  server = await startAdmin();
  const token = await server.makeKey(admin.components.schemas.Scope.enum as Scope[]);
  environment = { ...process.env, PARLEY_ADMIN_URL: new URL(server.url).origin, PARLEY_ADMIN_KEY: token };
  const create = async (path: string, body: object) => (await server.call(token, "POST", path, body)).body;
  const [group, spare] = (await Promise.all(["one", "two"].map((name) => create("/groups", { name })))) as {
    id: string;
  }[]; // the answers of creations
  const { key } = (await create("/keys", { name: "key" })) as { key: { id: string } };
  const scopes = ["keys:read"];
  const { admin_key: adminKey } = (await create("/admin-keys", { name: "key", scopes })) as {
    admin_key: { id: string };
  };
  const chat = await fetch(`${server.server.origin}/v1/chat/completions`, chatInit({}, withKey(testKey)));
  const requestId = chat.headers.get("x-request-id") ?? "";
  await chat.text();
  withIds = (operation, sample) =>
    sample
      .replaceAll("req_9f2c7d1e5b8a4036", requestId)
      .replaceAll("grp_0123456789ab", (operation === "deleteGroup" ? spare : group)?.id ?? "")
      .replaceAll("0123456789ab", key.id)
      .replaceAll("abcdef012345", adminKey.id);
  return () => server[Symbol.asyncDispose]();
});

const folder = mkdtempSync(join(tmpdir(), "parley-admin-samples-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function sampleOf(operation: string, info: string): Promise<string> {
  const page = await (await fetch(`${server.server.origin}/docs/admin/${operation}.md`)).text();
  const [, text = ""] = page.split(`\`\`\`${info}\n`);
  const sample = text.split("\n```")[0] ?? "";
  if (sample === "") throw new Error(`the page of ${operation} has no sample ${info}`);
  return withIds(operation, sample);
}

function run(program: string, args: readonly string[]): Promise<{ exitCode: unknown; output: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { env: environment, cwd: folder }, (error, stdout, stderr) =>
      resolve({ exitCode: error ? error.code : 0, output: stdout + stderr }),
    );
  });
}

test("each operation has a sample for curl that runs", async () => {
  for (const operation of ordered) {
    const sample = await sampleOf(operation, "sh curl");
    const { output } = await run("bash", ["-c", sample.replace("curl ", "curl -s -w '\\n%{http_code}' ")]);
    expect([operation, output]).toEqual([operation, expect.stringMatching(/\n20[014]$/)]);
  }
}, 120_000);

test("each operation has a sample for openapi-fetch that compiles with the generated types, and runs", async () => {
  symlinkSync(join(root, "packages/server/node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  copyFileSync(fileURLToPath(import.meta.resolve("@parley/contract/admin-types")), join(folder, "admin-types.ts"));
  for (const operation of ordered)
    writeFileSync(join(folder, `${operation}.ts`), await sampleOf(operation, "ts TypeScript · openapi-fetch"));
  writeFileSync(join(folder, "all.mjs"), ordered.map((operation) => `await import("./${operation}.ts");\n`).join(""));
  const files = ordered.map((operation) => `${operation}.ts`);
  const flags =
    "--noEmit --strict --skipLibCheck --module nodenext --target es2024 --allowImportingTsExtensions --types node";
  const typeRoots = ["--typeRoots", join(root, "node_modules/@types")];
  const compiled = await run(join(root, "node_modules/.bin/tsc"), [...files, ...flags.split(" "), ...typeRoots]);
  expect(compiled).toEqual({ exitCode: 0, output: "" });
  expect(await run(process.execPath, ["all.mjs"])).toEqual({ exitCode: 0, output: expect.stringContaining("token:") });
}, 120_000);
