import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startTestServer, testKey } from "@parley/server/testing";
import { appsFolder, filesOf, hashOf, readAppResult } from "../src/apps/app.ts";
import { apps } from "../src/apps/apps.ts";
import { runApp } from "../src/apps/run-app.ts";

const root = new URL("../../../", import.meta.url);

test("every app has its files, and every folder an app", () => {
  expect(readdirSync(appsFolder).toSorted()).toEqual(apps.map(({ name }) => name).toSorted());
  expect(apps.length).toBeGreaterThanOrEqual(12);
});

test("every app worked with the lines and versions that the guide shows", () => {
  const stale = apps.filter((app) => readAppResult(app)?.hash !== hashOf(app));
  expect(stale.map(({ name }) => name)).toEqual([]);
  for (const app of apps) expect(readAppResult(app)?.requests).toContain("POST /v1/chat/completions 200");
});

test("the guide has the files of every app, word for word", () => {
  const guide = readFileSync(new URL("docs/guides/your-app.md", root), "utf8");
  for (const app of apps) for (const text of filesOf(app).values()) expect(guide).toContain(text.trimEnd());
});

test("the 404s of other APIs lead to a page that the server has", () => {
  const hints = readFileSync(new URL("packages/server/src/http/other-apis.ts", root), "utf8");
  const [page = ""] = /\/docs\/guides\/[\w-]+/.exec(hints) ?? [];
  expect(existsSync(new URL(`${page.slice(1)}.md`, root))).toBe(true);
});

// Their packages are those of the server's own tests.
const installed = fileURLToPath(new URL("packages/server/node_modules", root));
const present = apps.filter(({ kind, packages }) => {
  const names = packages.map((one) => one.slice(0, one.lastIndexOf("@")));
  return kind === "npm" && names.every((name) => existsSync(`${installed}/${name}`));
});

test.each(present)("$name shows the answer of a running Parley", { timeout: 120_000 }, async (app) => {
  await using server = await startTestServer();
  expect(await runApp(app, { url: server.origin, key: testKey }, installed)).toEqual({
    requests: ["POST /v1/chat/completions 200"],
    fault: undefined,
  });
});

test("an app whose setting points to another API is told what to set", { timeout: 120_000 }, async () => {
  const [app] = present;
  if (!app) throw new Error("no app is installed");
  await using server = await startTestServer();
  const { requests, fault } = await runApp(app, { url: `${server.origin}/api`, key: testKey }, installed);
  expect(requests.join(" ")).toContain("404");
  expect(fault).toContain("use POST /v1/chat/completions");
});
